import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import {
  fromGitlab,
  standard,
  type Sent,
} from '../../libs/events/inbound-hooks/testing/senders.js';
import { DAYS } from '../../libs/events/webhooks/domain/kinds.js';
import { answering, type Received } from '../../libs/events/webhooks/testing/receiver.js';
import { testSandbox, variablesOf } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { selfSigned } from '../support/certificates.js';
import { waitFor } from '../support/wait-for.js';
import { runCodingAgent } from './canary/coding-agent.js';
import { filesIn } from './canary/dumps.js';
import { aMark, found, type Mark } from './canary/mark.js';
import { ASK, ASK_FOR_IT, ASK_HOST, digestOf, REPEAT, TELL } from './canary/scripts.js';
import { Stage } from './canary/stage.js';
import { createPerson, type Person, TestBrowser } from './dashboard/browser.js';

interface Item {
  id: string;
}
interface Items {
  items: Item[];
}

const task = aMark('the secret of the task');
const payload = aMark('the secret in the payload');
const smtp = aMark('the SMTP password');
const slack = aMark('the URL of Slack');
const credential = aMark('the credential for a host');
const modelKey = aMark('the key of the provider of a model');
const ownKey = aMark("the installation's own key of a provider");
const TOKEN = 'DROVER_RUN_TOKEN=';
/** The server creates more marks, which are added later. */
const marks: Mark[] = [task, payload, smtp, slack, credential, modelKey, ownKey];

const certificates = mkdtempSync(join(tmpdir(), 'drover-canary-'));
const identity = selfSigned(certificates, 'DNS:localhost');
const sandbox = await testSandbox();

const SLACK = `/services/T0/B0/${slack.value}`;
/** Answers with the request, like servers that do not know the path. */
const SLACK_ECHO = `/services/T0/B1/${slack.value}`;

let stage: Stage;
let browser: TestBrowser;
let person: Person;
let page: Page;
let toSlack: string;
const tasks: Record<string, string> = {};
const signingSecrets: string[] = [];

beforeAll(async () => {
  stage = await Stage.set(smtp.value, ownKey.value);
  const bearer = String(stage.fleet.credentials['authorization']).slice('Bearer '.length);
  marks.push(aMark('the token of the owner', bearer));
  person = await createPerson(stage.fleet, [stage.fleet.workspaceId]);
  browser = await TestBrowser.start(stage.address);
});

afterAll(async () => {
  await browser.stop();
  await stage.stop();
  rmSync(certificates, { recursive: true });
});

const proofOf = (name: string) => join(stage.fleet.folder, `${name}.proof`);
const hasProof = (name: string, { value }: Mark) =>
  readFileSync(proofOf(name), 'utf8') === digestOf(value);

/** A task whose run gets the secret, and whose other parts contain it, too. */
async function submit(name: string, script: string, values: Record<string, unknown> = {}) {
  const { value } = task;
  tasks[name] = await stage.submit(script, {
    title: `A task with ${value} in its title`,
    description: `Use ${value} for it`,
    secrets: { A_SECRET: value },
    metadata: { password: value, note: `it is ${value}` },
    tags: ['canary', value],
    ...values,
  });
  return tasks[name];
}

async function show(path: string, text: string): Promise<void> {
  await page.goto(path);
  await page.getByText(text).first().waitFor();
  stage.shown.push(await page.content());
}

describe('webhooks', () => {
  it('webhooks sign with a secret that is shown once', async () => {
    const hook = { url: stage.receiver.url('/hook'), events: ['*'] };
    const { id, secret } = await stage.make(['POST', '/webhooks'], 201, hook);
    const next = await stage.make(['POST', `/webhooks/${id}/rotate`], 200);
    signingSecrets.push(secret, next.secret);
    marks.push(...signingSecrets.map((each) => aMark('the signing secret', each)));
    // A receiver whose answers contain secrets.
    const words = `The signature is not that of ${secret} or ${next.secret}`;
    stage.receiver.behave('/hook', answering(200, {}, words));
    await stage.ask(['POST', `/webhooks/${id}/test`], 202);
    await waitFor('its answer', async () => {
      await stage.ask(['GET', `/webhooks/${id}/deliveries`], 200);
      return stage.answers.at(-1)?.includes('The signature is not that of [redacted]');
    });
  });

  it('the URL for Slack is never shown', async () => {
    stage.receiver.behave(SLACK_ECHO, (response, { path }) => {
      response.writeHead(404).end(`Cannot POST ${path}`);
    });
    // Quiet hours of the whole week, except for the day after the next two.
    const days = DAYS.toSpliced((new Date().getUTCDay() + 3) % 7, 1);
    const quietHours = { from: '00:00', to: '00:00', timeZone: 'UTC', days };
    const notice = { kind: 'slack', digestSeconds: 0, digestMax: 50, quietHours };
    const make = async (path: string, events: string[]) => {
      const body = { ...notice, events, url: stage.receiver.url(path) };
      const { id } = await stage.ask<Item>(['POST', '/webhooks'], 201, body);
      await stage.ask(['POST', `/webhooks/${id}/test`], 202);
      await waitFor('the test', () => stage.receiver.received(path).length > 0);
      return id;
    };
    toSlack = await make(SLACK, ['task.created', 'question.asked', 'question.answered']);
    const echo = await make(SLACK_ECHO, ['budget.alert']);
    const elsewhere = { url: `http://192.0.2.1/services/T0/B0/${slack.value}` };
    await stage.ask(['PATCH', `/webhooks/${toSlack}`], 400, elsewhere);
    await stage.ask(['POST', '/webhooks'], 400, { ...notice, events: ['*'], ...elsewhere });
    await stage.ask(['GET', '/webhooks'], 200);
    await waitFor('its answer', async () => {
      await stage.ask(['GET', `/webhooks/${echo}/deliveries`], 200);
      return stage.answers.at(-1)?.includes('Cannot POST /services/T0/B1/');
    });
    expect(await stage.drover('webhook', 'deliveries', echo, '--json')).toBe(0);
  });

  it('the e-mail account is never shown', async () => {
    const { mail } = stage;
    const template = '{{task.title}}: {{text}}';
    const body = {
      kind: 'email',
      recipients: [person.email],
      events: ['question.asked'],
      template,
    };
    mail.refusal = (password) => {
      const account = Buffer.from(`\0drover\0${password}`).toString('base64');
      return `no such account: AUTH PLAIN ${account}, drover has not the password ${password}`;
    };
    const refused = await stage.ask<Item>(['POST', '/webhooks'], 201, body);
    await stage.ask(['POST', `/webhooks/${refused.id}/test`], 202);
    await waitFor('its answer', async () => {
      await stage.ask(['GET', `/webhooks/${refused.id}/deliveries`], 200);
      return stage.answers.at(-1)?.includes('no such account');
    });
    mail.refusal = undefined;
    await stage.ask<Item>(['POST', '/webhooks'], 201, body);
    await stage.ask(['DELETE', `/webhooks/${refused.id}`], 204);
    expect(mail.accounts).toContain(`drover:${smtp.value}`);
  });
});

(sandbox === undefined ? describe.skip : describe)('a coding agent in a sandbox', () => {
  it('its provider gets the key, which is in none of its processes', async () => {
    const wanted = { key: modelKey.value, texts: [modelKey.value, ownKey.value, TOKEN] };
    const { requests, processes } = await runCodingAgent(stage, variablesOf(sandbox!), wanted);
    expect(stage.printed.at(-1)).toMatch(/env; cat[^]*I found nothing\./);
    // The search finds what is there: the variable with the token of the run.
    expect(new Set(processes.flatMap(({ has }) => has))).toEqual(new Set([TOKEN]));
    expect(processes.filter(({ bytes }) => bytes === 0)).toEqual([]);
    expect(new Set(requests.map(({ headers }) => headers['authorization']))).toEqual(
      new Set([`Bearer ${modelKey.value}`]),
    );
    expect(found(marks, { models: JSON.stringify(requests.map(({ body }) => body)) })).toEqual([]);
  });
});

const canAskHosts = identity !== undefined && sandbox !== undefined;
(canAskHosts ? describe : describe.skip)('a session in a sandbox', () => {
  const received: (string | undefined)[] = [];
  const registry = createServer({ ...identity }, ({ url, headers: { authorization } }, answer) => {
    received.push(authorization);
    answer.end(url === '/echo' ? `the header is ${authorization}` : 'welcome');
  });
  beforeAll(() => once(registry.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => {
    registry.close();
    registry.closeAllConnections();
  });

  it('a host gets its credential, and the session that asks it sees none', async () => {
    const host = `localhost:${(registry.address() as AddressInfo).port}`;
    const value = `Bearer ${credential.value}`;
    await stage.ask(['PUT', `/host-credentials/${host}`], 200, { value });
    await stage.ask(['PUT', '/host-credentials/*'], 400, { value });
    await stage.ask(['PUT', `/host-credentials/${host}`], 400, { value, header: 'Host' });
    await stage.ask(['PUT', `/host-credentials/${host}`], 400, { value: `${value}\n` });
    await stage.ask(['GET', '/host-credentials'], 200);
    expect(await stage.drover('credential', 'list', '--json')).toBe(0);
    const network = { network: 'allow', allowedHosts: [host] };
    await stage.ask(['PATCH', `/workspaces/${stage.fleet.workspaceId}`], 200, network);
    const worker = await stage.startWorker('sandboxed', {
      ...variablesOf(sandbox!),
      DROVER_SANDBOX_NETWORK: 'allow',
      DROVER_SANDBOX_ALLOWED_HOSTS: host,
      DROVER_SANDBOX_PRIVATE_HOSTS: host,
      DROVER_WORKER_LOG_LEVEL: 'debug',
      NODE_EXTRA_CA_CERTS: identity!.file,
    });
    const command = [process.execPath, '-e', ASK_HOST(host)];
    const id = await stage.submit('', { inputContext: { command, network: 'allow' } });
    await stage.until(id, 'COMPLETED');
    await stage.ask(['GET', `/agent-tasks/${id}/logs?limit=100`], 200);
    for (const words of [
      'first 200 welcome',
      'saw 0 of true',
      'second 200 the header is [redacted]',
    ])
      expect(stage.answers.at(-1)).toContain(words);
    expect(received).toEqual([value, value]);
    expect(await stage.drover('credential', 'remove', host)).toBe(0);
    worker.kill('SIGTERM');
    await worker.ended();
  });
});

describe('a task', () => {
  it('the runs of a task get its secret, through success, failure and a crash', async () => {
    const first = await stage.startWorker('first');
    await stage.until(await submit('done', TELL(proofOf('done'))), 'COMPLETED');
    const failing = `${TELL(proofOf('failed'))} throw new Error('failed with ' + secret);`;
    await stage.until(await submit('failed', failing, { maxRetries: 0 }), 'FAILED');
    const waiting = `${TELL(proofOf('crashed'))} if (process.env.DROVER_ATTEMPT === '1') setInterval(() => {}, 1000);`;
    const crashed = await submit('crashed', waiting);
    await waitFor('its checkpoint', async () => {
      const { checkpointData } = await stage.fleet.task(crashed);
      return Object.keys(checkpointData as object).length > 0;
    });
    first.kill('SIGKILL');
    await first.ended();
    await stage.startWorker('second');
    expect(['done', 'failed', 'crashed'].map((name) => hasProof(name, task))).toEqual(
      Array(3).fill(true),
    );
  });

  it("a task asks a person about its secret, and the person's answer contains it", async () => {
    page = await browser.openSignedIn(person);
    const asking = await submit('asking', ASK(proofOf('asking')));
    const refused = await submit('refused', ASK_FOR_IT(proofOf('refused')), { maxRetries: 0 });
    await stage.until(asking, 'PAUSED');
    const list = await stage.ask<Items>(['GET', `/questions?taskId=${asking}`], 200);
    const id = String(list.items[0]?.id);
    expect(stage.answers.at(-1)).toContain('May I use [redacted]?');
    await show('/questions', 'May I use [redacted]?');
    // Simulates a person with a slow connection: the question stays on the page, though it is
    // answered.
    await page.route(/\/questions\?/, () => undefined);
    const answer = `take ${task.value}`;
    expect(await stage.drover('question', 'answer', id, answer)).toBe(0);
    await page.getByLabel('Answer').fill(answer);
    await page.getByRole('button', { name: 'Send answer', exact: true }).click();
    await page.getByRole('status').getByText('The question is closed').waitFor();
    stage.shown.push(await page.content());
    await stage.until(asking, 'COMPLETED');
    await stage.until(refused, 'FAILED');
    expect([hasProof('asking', task), hasProof('refused', task)]).toEqual([true, true]);

    const again = ['POST', `/questions/${id}/answer`] as const;
    await stage.ask(again, 409, { answer }, { 'idempotency-key': 'again' });
    await stage.ask(again, 409, { answer }, { 'idempotency-key': 'again' });
    expect(await stage.drover('question', 'answer', id, answer)).not.toBe(0);
    await stage.ask(['GET', `/questions/${id}`], 200);
    expect(stage.answers.at(-1)).toContain('take [redacted]');
  });

  it('an event with a secret in it creates a task', async () => {
    const command = [process.execPath, '-e', REPEAT(proofOf('hooked'))];
    const made = { title: 'Of {{word}}: {{text}}', description: '{{text}}', taskType: 'test' };
    const from = { ...made, tags: ['{{word}}'], metadata: { word: '{{word}}' } };
    const input = { inputContext: { note: '{{text}}', command } };
    const rules = [
      { on: 'order', do: 'create_task', task: { ...from, ...input } },
      { on: 'ticket', do: 'create_task', task: { ...from, inputContext: { note: '{{text}}' } } },
      { on: 'comment', do: 'resume_task' },
    ];
    const hooks = [];
    for (const kind of ['generic', 'gitlab'])
      hooks.push(
        await stage.make<{ path: string }>(['POST', '/inbound-hooks'], 201, { kind, rules }),
      );
    marks.push(...hooks.map(({ secret }) => aMark('the secret of the hook', secret)));
    const [generic, gitlab] = hooks as [(typeof hooks)[0], (typeof hooks)[0]];
    const { value } = payload;
    const text = `Sign in with password=${value} and show Bearer ${value}`;
    const post = async ({ headers, body }: Sent, status: number, hook = generic) => {
      const answer = await stage.send(hook.path, { method: 'POST', headers, body });
      if (answer.status !== status) throw new Error(`${hook.path}: ${answer.text}`);
      return JSON.parse(answer.text) as { taskId: string; outcome: string };
    };
    const event = (type: string, subject: string, others = {}) =>
      standard({ type, subject, text, word: value, ...others }, generic);

    const order = event(`order.token=${value}`, `order password=${value}`);
    tasks['hooked'] = (await post(order, 200)).taskId;
    await stage.until(tasks['hooked'], 'COMPLETED');
    expect(hasProof('hooked', payload)).toBe(true);

    const { taskId } = await post(event('ticket', 'a ticket'), 200);
    tasks['resumed'] = taskId;
    await stage.ask(['POST', `/agent-tasks/${taskId}/pause`], 200, {});
    const comment = event('comment', 'a ticket', { text: `it is ${value}` });
    expect(await post(comment, 200)).toMatchObject({ outcome: 'resumed' });
    await stage.ask(['POST', `/agent-tasks/${taskId}/cancel`], 200, { reason: `of ${value}` });

    await post({ ...order, body: `${order.body} ` }, 401);
    await post(fromGitlab('Issue Hook', { text }, gitlab), 200, gitlab);
    await post(fromGitlab('Issue Hook', { text }, { secret: `${gitlab.secret}x` }), 401, gitlab);
    for (const { id } of hooks) {
      await stage.ask(['GET', `/inbound-hooks/${id}`], 200);
      await stage.ask(['GET', `/inbound-hooks/${id}/deliveries`], 200);
    }
  });

  it('the refusal of a task contains no part of its secret', async () => {
    const { value } = task;
    const secrets = { A_SECRET: value };
    const refusals: [path: string, body: unknown][] = [
      ['/agent-tasks', { title: 'x', secrets, inputContext: { apiKey: value }, priority: 99 }],
      ['/agent-tasks', { title: 'x', taskType: 't', secrets, dependsOn: [value] }],
      ['/agent-tasks', { title: 'x', taskType: 't', secrets: { 'no variable': value } }],
    ];
    for (const [path, body] of refusals) await stage.ask(['POST', path], 400, body);
    const reason = { reason: `because of ${value}` };
    await stage.ask(['POST', `/agent-tasks/${tasks['done']}/cancel`], 409, reason);

    const query = `password=${value}&unknown=${value}`;
    const html = { headers: { accept: 'text/html' } };
    expect((await stage.send(`/tasks/nothing?${query}`, html)).status).toBe(200);
    expect((await stage.send(`/nothing?${query}`, html)).status).toBe(404);
    await stage.ask(['GET', `/agent-tasks?${query}`], 400);
    const login = { email: `nobody@example.test`, password: value };
    await stage.ask(['POST', '/auth/login'], 401, login);
    const json = { 'content-type': 'application/json', authorization: `Bearer ${value}` };
    const cutOff = { method: 'POST', headers: json, body: `{"password": "${value}` };
    expect((await stage.send('/api/v1/auth/login', cutOff)).status).toBe(400);
    expect((await stage.send('/api/v1/agent-tasks', { headers: json })).status).toBe(401);
    const socket = connect(stage.fleet.port, '127.0.0.1');
    socket.end(`GET / HTTP/1.1\r\nhost: here\r\nauthorization ${value}\r\n\r\n`);
    const [refusal] = (await once(socket, 'data')) as [Buffer];
    expect(refusal.toString()).toContain('400 Bad Request');
    stage.answers.push(refusal.toString());
  });

  it('a task resumes after a crash, and people can see it', async () => {
    await stage.until(String(tasks['crashed']), 'COMPLETED');
    expect(hasProof('crashed', task)).toBe(true);
    for (const id of Object.values(tasks))
      for (const path of ['', '/logs?limit=100', '/runs', '/explain'])
        await stage.ask(['GET', `/agent-tasks/${id}${path}`], 200);
    expect(await stage.drover('task', 'show', String(tasks['asking']))).toBe(0);
    await show(`/tasks/${tasks['asking']}`, 'A task with [redacted] in its title');
    await show(`/tasks/${tasks['hooked']}`, 'Of [redacted]');
    await waitFor('the spans of all', () => {
      return stage.spans.filter(({ name }) => name === 'task test').length >= 6;
    });
    // All waiting notices arrive as one digest.
    await stage.ask(['PATCH', `/webhooks/${toSlack}`], 200, { quietHours: null });
    await waitFor('the digest', () => stage.messages(SLACK).includes(' events: '));
    await waitFor('the messages of all', () => {
      const messages = stage.messages('/hook');
      return Object.values(tasks).every((id) => messages.includes(id));
    });
    await waitFor('an e-mail', () => stage.mails !== '');
  });
});

describe('a secret', () => {
  it('a secret is in no output and no stored data', async () => {
    const places = await stage.places();
    expect(Object.keys(places).filter((name) => places[name] === '')).toEqual([]);
    expect(found(marks, places)).toEqual([]);
  });

  it('a secret is in no message', () => {
    const people = { Slack: stage.messages(SLACK), 'an e-mail': stage.mails };
    expect(found(marks, { ...people, 'a webhook': stage.messages('/hook') })).toEqual([]);
    for (const [name, text] of Object.entries(people))
      for (const words of ['May I use [redacted]?', 'in its title'])
        expect([name, text]).toEqual([name, expect.stringContaining(words)]);
    expect(people.Slack).toContain('was answered: take [redacted]');
    const [{ headers, body }] = stage.receiver.received('/hook').slice(-1) as [Received];
    for (const secret of signingSecrets)
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeTruthy();
  });

  it('a secret is in no file that a run left', async () => {
    // A restarted worker removes the files that it could not remove when it was killed.
    await stage.startWorker('first');
    await waitFor('its folder to be empty', () => {
      return readdirSync(join(stage.fleet.folder, 'first/runs')).length === 0;
    });
    expect(found(marks, filesIn(stage.fleet.folder))).toEqual([]);
  });
});
