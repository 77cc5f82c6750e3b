import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { type MailStandIn, startMailServer } from '../testing/mail-server.js';

const PUBLIC_URL = 'https://drover.example.test';

let mail: MailStandIn;
let server: TestApp;
let workspace: TestWorkspace;
let settings: Record<string, string>;

beforeAll(async () => {
  mail = await startMailServer();
  settings = {
    SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=none`,
    MAIL_FROM: 'Drover <drover@example.org>',
  };
  server = await startTestApp({ ...settings, PUBLIC_URL });
  workspace = await server.newWorkspace();
});

afterAll(async () => {
  await server?.stop();
  await mail?.stop();
});

interface Invitation {
  id: string;
  email: string;
  link: string;
  emailStatus: string;
  emailProblem: string | null;
}

const anEmail = () => `${newId()}@example.test`;

async function invite(email?: string, at = workspace): Promise<Invitation> {
  const path = `/workspaces/${at.id}/invitations`;
  const { status, body } = await at.api.post<Invitation>(path, { email, role: 'MEMBER' });
  expect(status).toBe(201);
  return body;
}

async function listed(id: string, at = workspace): Promise<Invitation | undefined> {
  const path = `/workspaces/${at.id}/invitations`;
  const { body } = await at.api.get<{ items: Invitation[] }>(path);
  return body.items.find((item) => item.id === id);
}

/** The invitation of an address when it is known what became of its mail. */
async function inviteAndSettle(email: string, at = workspace): Promise<Invitation> {
  const made = await invite(email, at);
  let settled: Invitation | undefined = made;
  await waitFor('what became of the mail', async () => {
    if (settled?.emailStatus === 'sending') settled = await listed(made.id, at);
    return settled?.emailStatus !== 'sending';
  });
  return { ...made, ...settled, link: made.link };
}

/** The answer to the holder of a link. */
async function open(link: string) {
  const token = link.split('#')[1];
  return apiClient(server.url, {}).post('/auth/invitation', { token });
}

/** Undoes quoted-printable. */
const textOf = (raw: string) =>
  Buffer.from(
    raw
      .replaceAll(/=\r?\n/g, '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');

const mailTo = (email: string) => mail.received.filter(({ to }) => to.includes(email));

describe('an invitation of an address', () => {
  it('an invitation is mailed with its link, which no table has, and no name adds a header', async () => {
    await server.db.owner.query('UPDATE workspaces SET name = $2 WHERE id = $1', [
      workspace.id,
      'Team\r\nBcc: all@example.test\r\n\r\n\u202egnp.exe',
    ]);
    const email = anEmail();
    const made = await inviteAndSettle(email);
    expect(made).toMatchObject({ emailStatus: 'sent', emailProblem: null });
    const [received] = mailTo(email);
    const text = textOf(received?.raw ?? '');
    expect(mailTo(email)).toMatchObject([{ to: [email], from: 'drover@example.org' }]);
    expect(text).not.toMatch(/^Bcc:/m);
    expect(text).not.toContain('\u202e');
    expect(text).toMatch(/as MEMBER/);
    const link = /https:\S+/.exec(text)?.[0] ?? '';
    expect(link).toBe(made.link);
    expect(link).toMatch(new RegExp(`^${PUBLIC_URL}/invitation#`));
    expect(await open(link)).toMatchObject({ status: 200, body: { email } });
    expect(await listed(made.id)).toMatchObject({ emailStatus: 'sent', emailProblem: null });
    const { rows } = await server.db.owner.query<{ row: string }>(
      'SELECT i::text AS row FROM workspace_invitations i WHERE id = $1',
      [made.id],
    );
    expect(rows[0]?.row).not.toContain(link.split('#')[1]);
    expect(await invite()).toMatchObject({ email: null, emailStatus: 'none', emailProblem: null });
  });

  it('a refused mail is reported with the answer, and another invitation sends it again', async () => {
    const email = anEmail();
    mail.codes.set(email, 550);
    const refused = await inviteAndSettle(email);
    const failed = { emailStatus: 'failed', emailProblem: expect.stringContaining('550') };
    expect(refused).toMatchObject(failed);
    expect(await listed(refused.id)).toMatchObject(failed);
    expect((await open(refused.link)).status).toBe(200);
    mail.codes.delete(email);
    const again = await inviteAndSettle(email);
    expect(again).toMatchObject({ emailStatus: 'sent', emailProblem: null });
    expect(mailTo(email)).toHaveLength(1);
    expect((await open(refused.link)).status).toBe(404);
  });

  it('one address gets at most five mails in an hour', async () => {
    const email = anEmail();
    const statuses: string[] = [];
    for (let n = 0; n < 6; n++) statuses.push((await inviteAndSettle(email)).emailStatus);
    expect(statuses).toEqual([...Array<string>(5).fill('sent'), 'failed']);
    expect(mailTo(email)).toHaveLength(5);
  });

  it('an inviter does not wait for a slow mail server, and a lost result counts as a failure', async () => {
    let release = (): void => undefined;
    mail.answersAfter = new Promise((resolve) => (release = resolve));
    const email = anEmail();
    const { id, emailStatus } = await invite(email);
    await waitFor('the mail at its server', () => mailTo(email).length === 1);
    expect([emailStatus, (await listed(id))?.emailStatus]).toEqual(['sending', 'sending']);
    const age = `UPDATE workspace_invitations SET created_at = now() - interval '2 minutes'`;
    await server.db.owner.query(`${age} WHERE id = $1`, [id]);
    const lost = { emailStatus: 'failed', emailProblem: expect.stringContaining('was lost') };
    expect(await listed(id)).toMatchObject(lost);
    release();
    await waitFor('the result', async () => (await listed(id))?.emailStatus === 'sent');
  });

  it('a server without its own address mails no link, and one with open sign-up mails none for strangers', async () => {
    const open = await startTestApp({ ...settings, OPEN_SIGN_UP: 'true' });
    try {
      const at = await open.newWorkspace();
      const email = anEmail();
      const problemOf = async () => (await inviteAndSettle(email, at)).emailProblem;
      expect(await problemOf()).toContain('PUBLIC_URL');
      const sql = `UPDATE users SET password_hash = 'any' WHERE id = $1`;
      await open.db.owner.query(sql, [at.userId]);
      expect(await problemOf()).toContain('nobody confirmed your own address');
      expect(mailTo(email)).toEqual([]);
    } finally {
      await open.stop();
    }
  });
});
