import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { MailServer } from '#lib/config';
import { waitFor } from '../../../../test/support/wait-for.js';
import { type MailStandIn, startMailServer } from '../testing/mail-server.js';
import { MailClient } from './mail-client.js';

const MAIL = {
  to: ['a@example.com', 'b@example.com'],
  subject: 'A task',
  text: 'It failed.',
  id: 'msg_1',
};
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

async function standIn(options: Parameters<typeof startMailServer>[0] = {}): Promise<MailStandIn> {
  const made = await startMailServer(options);
  stops.push(made.stop);
  return made;
}

function clientOf(port: number, server: Partial<MailServer> = {}): MailClient {
  const settings = { host: '127.0.0.1', port, tls: 'none' as const, ...server };
  const webhooks = { allowedNetworks: [], timeoutMs: 500, maxPerWorkspace: 1, retentionDays: 1 };
  const from = 'Drover <drover@example.org>';
  return new MailClient({ mail: { server: settings, from }, webhooks });
}

function send(port: number, server: Partial<MailServer> = {}, mail = MAIL) {
  return clientOf(port, server).send(mail);
}

/** A server that speaks freely. */
async function saying(speak: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    speak(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}

describe('an e-mail', () => {
  it('an e-mail signs in with its account and suppresses replies', async () => {
    const server = await standIn();
    const account = { user: 'drover', password: 'p@ss' };
    const attempt = await send(server.port, account);
    expect(attempt).toMatchObject({ outcome: { kind: 'delivered', status: 250 }, left: [] });
    expect(server.accounts).toEqual(['drover:p@ss']);
    const [mail] = server.received;
    expect(mail).toMatchObject({ from: 'drover@example.org', to: MAIL.to });
    expect(mail?.raw).toMatch(/^Message-ID: <msg_1@example.org>\r$/m);
    expect(mail?.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(mail?.raw).toMatch(/\r\n\r\nIt failed\.\r\n$/);
  });

  it('an e-mail has the given headers and no others', async () => {
    const server = await standIn();
    const subject = 'a\r\nBcc: c@example.com\r\n\r\nbody';
    await send(server.port, {}, { ...MAIL, subject });
    expect(server.received[0]?.to).toEqual(MAIL.to);
    expect(server.received[0]?.raw).not.toMatch(/^Bcc:/m);
  });

  it.each([
    ['both later', [450, 451], { kind: 'failed', status: 450 }, MAIL.to, 0],
    ['both never', [550, 553], { kind: 'refused' }, [], 0],
    ['one now, one later', [250, 452], { kind: 'failed', status: 452 }, ['b@example.com'], 1],
    ['one now, one never', [250, 550], { kind: 'delivered' }, [], 1],
    ['one later, one never', [450, 550], { kind: 'failed', status: 450 }, ['a@example.com'], 0],
  ])('an e-mail that %s accepts ends accordingly', async (_, codes, outcome, left, received) => {
    const server = await standIn();
    MAIL.to.forEach((address, index) => server.codes.set(address, codes[index] as number));
    const attempt = await send(server.port);
    expect(attempt).toMatchObject({ outcome, left });
    expect(server.received).toHaveLength(received);
  });

  it('a refused text is refused for good, or for now', async () => {
    const refusing = (responseCode: number) =>
      standIn({
        onData: (stream, _, done) => {
          stream.resume().on('end', () => {
            done(Object.assign(new Error('no'), { responseCode }));
          });
        },
      });
    expect(await send((await refusing(554)).port)).toMatchObject({ outcome: { kind: 'refused' } });
    const later = await send((await refusing(451)).port);
    expect(later).toMatchObject({ outcome: { kind: 'failed', status: 451 }, left: MAIL.to });
  });

  it('an e-mail is not lost when the account cannot sign in', async () => {
    const server = await standIn({
      onAuth: (_, __, done) => done(new Error('no such account')),
    });
    const attempt = await send(server.port, { user: 'drover', password: 'wrong' });
    expect(attempt).toMatchObject({ outcome: { kind: 'failed', status: 535 }, left: MAIL.to });
  });

  it('the answer contains no password, in whatever form the server repeats it', async () => {
    const server = await standIn();
    server.refusal = (password) => {
      const account = Buffer.from(`\0drover\0${password}`).toString('base64');
      return `AUTH PLAIN ${account}: ${password} is wrong`;
    };
    const { answer } = await send(server.port, { user: 'drover', password: 'word of ours!' });
    expect(answer).toBe('535 AUTH PLAIN [redacted]: [redacted] is wrong');
  });

  it('an e-mail is not sent without TLS if TLS is required, nor with an untrusted certificate', async () => {
    const without = await standIn({ disabledCommands: ['STARTTLS'] });
    const selfSigned = await standIn({ hideSTARTTLS: false });
    const implicit = await standIn({ secure: true });
    const failed = { outcome: { kind: 'unanswered', error: 'tls_failed' } };
    const account = { user: 'drover', password: 'secret' };
    expect(await send(without.port, { ...account, tls: 'starttls' })).toMatchObject(failed);
    expect(await send(selfSigned.port, { ...account, tls: 'starttls' })).toMatchObject(failed);
    expect(await send(implicit.port, { ...account, tls: 'implicit' })).toMatchObject(failed);
    expect([without, selfSigned, implicit].flatMap((each) => each.accounts)).toEqual([]);
  });

  it('a server that scans an e-mail is waited for', async () => {
    const server = await standIn({
      onData: (stream, _, done) => {
        stream.resume().on('end', () => setTimeout(done, 1_000));
      },
    });
    expect(await send(server.port)).toMatchObject({ outcome: { kind: 'delivered' } });
  });

  it('an e-mail that has not started when its sender closes never starts', async () => {
    let begun = 0;
    const port = await saying(() => (begun += 1));
    const client = clientOf(port);
    const sending = Array.from({ length: 20 }, () => client.send(MAIL));
    await waitFor('sixteen conversations', () => begun === 16);
    client.close();
    const attempts = await Promise.all(sending);
    expect(attempts.every(({ outcome }) => outcome.kind === 'unanswered')).toBe(true);
    expect(begun).toBe(16);
  });

  it('an e-mail ends within its time limit, whatever the server does', async () => {
    const timedOut = { outcome: { kind: 'unanswered', error: 'timeout' }, left: MAIL.to };
    expect(await send(await saying(() => undefined))).toMatchObject(timedOut);
    // It is never idle and never finished.
    const slow = await saying((socket) => {
      const timer = setInterval(() => socket.write('220-wait\r\n'), 50);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await send(slow)).toMatchObject(timedOut);
    const cut = await saying((socket) => socket.end());
    expect(await send(cut)).toMatchObject({ outcome: { error: 'connection_failed' } });
    expect(await send(1)).toMatchObject({ outcome: { error: 'connection_failed' } });
  });
});
