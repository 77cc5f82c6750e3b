import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A received e-mail. */
export interface ReceivedMail {
  from: string;
  to: string[];
  /** Includes the headers. */
  raw: string;
}

/** A mail server that stores what it receives, and answers recipients with configured codes. */
export interface MailStandIn {
  port: number;
  received: ReceivedMail[];
  /** User names and passwords as received. */
  accounts: string[];
  /** Default: 250. */
  codes: Map<string, number>;
  /** The answer to a refused account. Without it all accounts are accepted. */
  refusal: ((password: string) => string) | undefined;
  /** Received mails are answered after it. Default: at once. */
  answersAfter: Promise<void>;
  stop(): Promise<void>;
}

export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailStandIn> {
  const standIn: Omit<MailStandIn, 'port' | 'stop'> = {
    received: [],
    accounts: [],
    codes: new Map(),
    refusal: undefined,
    answersAfter: Promise.resolve(),
  };
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    logger: false,
    onAuth: ({ username, password }, _, done) => {
      standIn.accounts.push(`${username}:${password}`);
      const refusal = standIn.refusal?.(String(password));
      if (refusal === undefined) done(null, { user: username });
      else done(Object.assign(new Error(refusal), { responseCode: 535 }));
    },
    onRcptTo: ({ address }, _, done) => {
      const code = Number(standIn.codes.get(address) ?? 250);
      if (code < 400) done();
      else done(Object.assign(new Error('not now, or never'), { responseCode: code }));
    },
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        standIn.received.push({ from, to, raw: Buffer.concat(chunks).toString('utf8') });
        void standIn.answersAfter.then(() => done());
      });
    },
    ...options,
  });
  // Some tests end conversations in the middle.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const stop = () => new Promise<void>((resolve) => server.close(resolve));
  return Object.assign(standIn, { port, stop });
}
