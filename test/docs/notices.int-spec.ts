import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TEMPLATE_NAMES } from '../../libs/events/webhooks/domain/notice.js';
import { WITH_RECEIVER } from '../../libs/events/webhooks/testing/endpoints.js';
import {
  type MailStandIn,
  startMailServer,
} from '../../libs/events/webhooks/testing/mail-server.js';
import { type Receiver, startReceiver } from '../../libs/events/webhooks/testing/receiver.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { waitFor } from '../support/wait-for.js';
import { paste, type Pasted, readPage, shownValues } from './page.js';

/**
 * Runs the lines of the page as they stand there, with stand-ins for Slack, Discord and a mail
 * server.
 */

const page = readPage('notices.md');

let app: TestApp;
let receiver: Receiver;
let mail: MailStandIn;
let home: string;
let pasted: Pasted;

beforeAll(async () => {
  [receiver, mail] = await Promise.all([startReceiver(), startMailServer()]);
  const SMTP_URL = `smtp://127.0.0.1:${mail.port}?tls=none`;
  app = await startTestApp({ ...WITH_RECEIVER, SMTP_URL, MAIL_FROM: 'drover@example.org' });
  const workspace = await app.newWorkspace();
  home = mkdtempSync(join(tmpdir(), 'drover-docs-'));
  const wanted = { name: 'docs', role: 'ADMIN', scopes: ['workspace:admin'] };
  const { body } = await workspace.api.post(`/workspaces/${workspace.id}/api-keys`, wanted);
  const me = await workspace.api.get<{ user: { email: string } }>('/auth/me');
  writeFileSync(join(home, 'address'), `${app.url}\n`);
  writeFileSync(join(home, 'api-key'), `${String(body['key'])}\n`);
  writeFileSync(join(home, 'administrator.json'), JSON.stringify({ email: me.body.user.email }));
  const urls = { SLACK_URL: receiver.url('/slack'), DISCORD_URL: receiver.url('/discord') };
  pasted = await paste(page, home, urls);
});

afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await app.stop();
  await Promise.all([receiver.stop(), mail.stop()]);
});

it("the page's lines have the described effect", async () => {
  expect({ code: pasted.code, err: pasted.err }).toEqual({ code: 0, err: pasted.err });
  expect(pasted.requests.filter((line) => !/^20\d /.test(line))).toEqual([]);
  expect(shownValues(page)).toEqual(['pending', 'pending', 'pending']);
  expect(pasted.output.match(/^pending$/gm)).toHaveLength(3);
  expect(pasted.output).toMatch(/^19:00$/m);
  const [slack] = await waitFor('the test in Slack', () => received('/slack'));
  const [discord] = await waitFor('the test in Discord', () => received('/discord'));
  expect(
    [slack?.body, discord?.body].map((body) => String(body).includes('This is a test')),
  ).toEqual([true, true]);
});

it('the page lists the fields of a template', () => {
  const table = page.slice(page.indexOf('| name '), page.indexOf('The server refuses a template'));
  const named = [...table.matchAll(/`([\w.]+)`(?=[^|]*\|[^|]*\|$)/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual([...TEMPLATE_NAMES].toSorted());
});

function received(path: string) {
  const all = receiver.received(path);
  return all.length > 0 && all;
}
