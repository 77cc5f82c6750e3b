import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import {
  type MailStandIn,
  startMailServer,
} from '../../libs/events/webhooks/testing/mail-server.js';
import { TestFleet } from '../support/fleet.js';
import { TestOpenIdProvider } from '../support/openid-provider.js';
import { waitFor } from '../support/wait-for.js';
import { createPerson, listAxeFindingsInAllLooks, TestBrowser } from './dashboard/browser.js';
import { Terminal } from './terminal.js';

/** Signing in, in dashboard and command line. */

let fleet: TestFleet;
let provider: TestOpenIdProvider;
let mail: MailStandIn;
let browser: TestBrowser;
let address: string;

beforeAll(async () => {
  fleet = await TestFleet.create();
  address = `http://127.0.0.1:${fleet.port}`;
  provider = await TestOpenIdProvider.start(address);
  mail = await startMailServer();
  await fleet.db.owner.query(`UPDATE workspaces SET slug = 'team', name = 'Team' WHERE id = $1`, [
    fleet.workspaceId,
  ]);
  await fleet.startServer({
    ...provider.settings(address),
    SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=none`,
    MAIL_FROM: 'drover@example.test',
    OIDC_NAME: 'Example ID',
    OIDC_GROUP_ROLES: 'developers=team:MEMBER',
  });
  browser = await TestBrowser.start(address);
  provider.person = {
    sub: 'ann',
    email: 'ann@example.test',
    email_verified: true,
    name: 'Ann',
    groups: ['developers'],
  };
});

afterAll(async () => {
  await browser?.stop();
  await fleet?.stop();
  await provider?.stop();
  await mail?.stop();
});

describe('single sign-on', () => {
  it('the dashboard signs a user in and back to the page, and out at the provider too', async () => {
    const page = await browser.open();
    await page.goto('/tasks?status=FAILED');
    await page.getByRole('button', { name: 'Continue with Example ID' }).waitFor();
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    await page.getByRole('button', { name: 'Continue with Example ID' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
    expect(page.url()).toContain('/tasks?status=');
    expect(page.url()).not.toContain('code=');
    await page.getByText('ann@example.test').waitFor();
    await page.reload();
    await page.getByText('ann@example.test').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${provider.url}/session/end?**`);
    await page.context().close();
  });

  it('the dashboard refuses an answer that another browser started', async () => {
    const started = await fetch(`${address}/api/v1/auth/single-sign-on`, { method: 'POST' });
    const { url } = (await started.json()) as { url: string };
    const page = await browser.open();
    await page.goto(await provider.follow(url));
    await page.getByRole('alert').getByText('This sign-in was not started here').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await page.context().close();
  });

  it('the command line signs a user in by a code that a browser confirms', async () => {
    const env = { HOME: fleet.folder, DROVER_CONFIG: join(fleet.folder, 'sso.json') };
    const drover = (args: string[]) => new Terminal(args, { env, cwd: fleet.folder, input: '' });
    const login = drover(['login', address, '--sso', '--name', 'sso']);
    await waitFor('the code', () => login.stderr.includes('confirm the code'));
    const link = /Open (\S+)/.exec(login.stderr)?.[1] ?? '';
    await provider.confirmDevice(link);
    const ended = await login.ended;
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringContaining('Signed in')]);
    const list = await drover(['workspace', 'list', '--json']).ended;
    expect(JSON.parse(list.stdout)).toMatchObject([{ slug: 'team', role: 'MEMBER' }]);
  });
});

describe('a second factor', () => {
  it('a user sets it up in the dashboard, and signs in with it there and in the command line', async () => {
    const person = await createPerson(fleet, [fleet.workspaceId]);
    const page = await browser.openSignedIn(person);
    const dialog = page.locator('dialog[open]');
    await page.goto('/settings');
    await page.getByRole('button', { name: 'Set up second factor' }).click();
    await dialog.getByLabel('Password').fill(person.password);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('img', { name: 'QR code of the secret' }).waitFor();
    const panel = page.getByRole('region', { name: 'Second factor' });
    const secret = (await panel.locator('code').textContent()) ?? '';
    const codeOf = (steps: number) =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({
        timestamp: Date.now() + steps * 30_000,
      });
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    await page.getByRole('button', { name: 'Enter code' }).click();
    await dialog.getByLabel('Code').fill('000000');
    await dialog.getByRole('button', { name: 'Enable second factor' }).click();
    await dialog.getByRole('alert').getByText('The code is wrong').waitFor();
    await dialog.getByLabel('Code').fill(codeOf(0));
    await dialog.getByRole('button', { name: 'Enable second factor' }).click();
    await page.getByText('You have 10 unused recovery codes').waitFor();
    const codes = ((await page.locator('pre.foreign').textContent()) ?? '').trim().split('\n');
    expect(codes).toHaveLength(10);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Email address').fill(person.email);
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel('Code').waitFor();
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    // Each code works once, so this is the next one.
    await page.getByLabel('Code').fill(codeOf(1));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await page.context().close();

    const env = { HOME: fleet.folder, DROVER_CONFIG: join(fleet.folder, 'factor.json') };
    const drover = (args: string[], input: string) =>
      new Terminal(args, { env, cwd: fleet.folder, input }).ended;
    const login = ['login', address, '--email', person.email];
    expect(await drover(login, `${person.password}\n${codes[0]}\n`)).toMatchObject({ code: 0 });
    expect(await drover(login, `${person.password}\n${codes[0]}\n`)).toMatchObject({ code: 3 });
    const removed = await drover(['user', 'mfa', '--remove'], `${codes[1]}\n`);
    expect(removed).toMatchObject({ code: 0, stdout: 'Second factor removed\n' });
    expect(await drover(login, `${person.password}\n`)).toMatchObject({ code: 0 });
  });
});

describe('an invitation', () => {
  it('dashboard and command line tell whether an invitation was mailed, and the dashboard sends it again', async () => {
    const person = await createPerson(fleet, [fleet.workspaceId]);
    const page = await browser.openSignedIn(person);
    const dialog = page.locator('dialog[open]');
    mail.codes.set('new@example.test', 550);
    await page.goto('/settings');
    await page.getByRole('button', { name: 'Invite member' }).click();
    await dialog.getByLabel('Email address').fill('new@example.test');
    await dialog.getByRole('button', { name: 'Invite member' }).click();
    await page.getByText('its e-mail was not sent').waitFor();
    const row = page.getByRole('row').filter({ hasText: 'new@example.test' });
    await row.getByText(/Not sent: the mail server refuses the e-mail.*550/).waitFor();
    const link = page.locator('pre.foreign');
    const refused = await link.textContent();
    mail.codes.clear();
    await row.getByRole('button', { name: 'Send again' }).click();
    await row.getByText('Sent', { exact: true }).waitFor();
    await page.getByText('Invitation sent to new@example.test').waitFor();
    expect(mail.received).toMatchObject([{ to: ['new@example.test'] }]);
    expect(await link.textContent()).not.toBe(refused);
    expect(await listAxeFindingsInAllLooks(page)).toEqual([]);
    await page.context().close();

    const env = { HOME: fleet.folder, DROVER_CONFIG: join(fleet.folder, 'invite.json') };
    const drover = (args: string[], input = '') =>
      new Terminal(args, { env, cwd: fleet.folder, input }).ended;
    const login = ['login', address, '--email', person.email];
    expect(await drover(login, `${person.password}\n`)).toMatchObject({ code: 0 });
    expect(await drover(['workspace', 'invite', 'next@example.test'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${address}/invitation#`),
      stderr: expect.stringContaining('The link was sent to next@example.test.'),
    });
    const listed = await drover(['workspace', 'invitations']);
    expect(listed.stdout).toContain('next@example.test\tMEMBER\tsent');
  });
});
