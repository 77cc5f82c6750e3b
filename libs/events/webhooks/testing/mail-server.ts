import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** An e-mail that has come. */
export interface ReceivedMail {
  from: string;
  to: string[];
  /** With its headers. */
  raw: string;
}

/** A mail server that keeps what it receives, and answers recipients with the codes that it was told. */
export interface MailStandIn {
  port: number;
  received: ReceivedMail[];
  /** User names and passwords, as they came. */
  accounts: string[];
  /** 250 where nothing else was said. */
  codes: Map<string, number>;
  /** What an account is told that is refused; accounts are taken without it. */
  refusal: ((password: string) => string) | undefined;
  stop(): Promise<void>;
}

export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailStandIn> {
  const standIn: Omit<MailStandIn, 'port' | 'stop'> = {
    received: [],
    accounts: [],
    codes: new Map(),
    refusal: undefined,
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
        done();
      });
    },
    ...options,
  });
  // Conversations that end in the middle are what some tests are about.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const stop = () => new Promise<void>((resolve) => server.close(resolve));
  return Object.assign(standIn, { port, stop });
}
