import type { CommandSpec, Commands } from '../command.js';
import { misuse } from '../failure.js';
import { present } from '../flags.js';
import { LIST_OPTIONS, listed } from '../lists.js';
import { ago } from '../output/output.js';

const FIELDS = [
  ['--event <pattern...>', 'the events, such as task.status_changed or task.*'],
  ['--description <text>', 'what it is for'],
] as const;

const create: CommandSpec = {
  usage: 'create [url]',
  summary: 'Have events sent to a URL, or to people; the signing secret is shown once',
  options: [
    ...FIELDS,
    ['--kind <kind>', 'signed (for programs, unless given), slack, discord or email'],
    ['--to <member...>', 'for email: members of the workspace, by user id or address'],
    [
      '--digest <seconds>',
      'for people: seconds between two messages; what comes meanwhile is joined',
    ],
  ],
  examples: [
    "webhook create https://example.org/drover --event 'task.*'",
    'webhook create --kind email --to ann@example.org --event budget.alert',
  ],
  run: async (cli, [url], flags) => {
    const body = {
      events: (flags.list('event') ?? ['*']) as ['*'],
      ...present({
        url,
        kind: flags.text('kind') as 'slack' | undefined,
        recipients: flags.list('to'),
        description: flags.text('description'),
        digestSeconds: flags.number('digest'),
      }),
    };
    const webhook = await cli.drover.post('/api/v1/webhooks', { body });
    cli.out.record(webhook, [
      ['id', webhook.id],
      ['secret', webhook.secret],
    ]);
  },
};

const list: CommandSpec = {
  usage: 'list',
  summary: 'List the webhooks',
  options: LIST_OPTIONS,
  examples: ['webhook list'],
  run: async (cli, _args, flags) => {
    const webhooks = await listed(flags, (query) =>
      cli.drover.get('/api/v1/webhooks', { params: { query } }),
    );
    cli.out.rows(
      webhooks,
      [
        { title: 'id', of: ({ id }) => id },
        {
          title: 'enabled',
          of: ({ enabled, disabledReason }) => (enabled ? 'yes' : disabledReason),
        },
        { title: 'failures', of: ({ consecutiveFailures }) => consecutiveFailures },
        { title: 'events', of: ({ events }) => events.join(' '), wide: true },
        { title: 'url', of: ({ url }) => url, wide: true },
      ],
      'No webhook. Make one with `drover webhook create URL`.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <id>',
  summary: 'Show a webhook',
  examples: ['webhook show $WEBHOOK'],
  run: async (cli, [id = '']) => {
    const webhook = await cli.drover.get('/api/v1/webhooks/{id}', { params: { path: { id } } });
    cli.out.record(webhook, Object.entries(webhook));
  },
};

const edit: CommandSpec = {
  usage: 'edit <id>',
  summary: 'Change, disable or enable a webhook',
  options: [
    ['--url <url>', 'where to'],
    ...FIELDS,
    ['--enable', 'send again'],
    ['--disable', 'send nothing'],
  ],
  examples: ['webhook edit $WEBHOOK --disable'],
  run: async (cli, [id = ''], flags) => {
    if (flags.has('enable') && flags.has('disable'))
      throw misuse('--enable or --disable, not both.');
    const enabled = flags.has('enable') || (flags.has('disable') ? false : undefined);
    const body = present({
      url: flags.text('url'),
      events: flags.list('event') as ['*'] | undefined,
      enabled,
      description: flags.text('description'),
    });
    const params = { path: { id } };
    const webhook = await cli.drover.patch('/api/v1/webhooks/{id}', { params, body });
    cli.out.done(webhook, `${id} is changed`);
  },
};

const remove: CommandSpec = {
  usage: 'delete <id>',
  summary: 'Delete a webhook; what waits for it is not sent',
  examples: ['webhook delete $WEBHOOK'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    await cli.drover.delete('/api/v1/webhooks/{id}', { params });
    cli.out.done({ id }, `${id} is deleted`);
  },
};

const rotate: CommandSpec = {
  usage: 'rotate <id>',
  summary: 'Make a new signing secret, shown once; the old one is valid for 24 hours',
  examples: ['webhook rotate $WEBHOOK'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const webhook = await cli.drover.post('/api/v1/webhooks/{id}/rotate', { params });
    cli.out.done(webhook, webhook.secret ?? `${id} has no signing secret`);
  },
};

const test: CommandSpec = {
  usage: 'test <id>',
  summary: 'Send a test event',
  examples: ['webhook test $WEBHOOK'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const answer = await cli.drover.post('/api/v1/webhooks/{id}/test', { params });
    cli.out.done(answer, `A test event is sent; see \`drover webhook deliveries ${id}\``);
  },
};

const STATE = ['--state <state>', 'pending, delivered or dead'] as const;
type State = 'pending' | 'delivered' | 'dead';

const deliveries: CommandSpec = {
  usage: 'deliveries <id>',
  summary: 'List what was sent to a webhook and what it answered, the newest first',
  options: [STATE, ...LIST_OPTIONS],
  examples: ['webhook deliveries $WEBHOOK --state dead'],
  run: async (cli, [id = ''], flags) => {
    const filter = present({ state: flags.text('state') as State | undefined });
    const found = await listed(flags, (page) => {
      const params = { path: { id }, query: { ...filter, ...page } };
      return cli.drover.get('/api/v1/webhooks/{id}/deliveries', { params });
    });
    cli.out.rows(
      found,
      [
        { title: 'id', of: (one) => one.id },
        { title: 'event', of: ({ event }) => event, wide: true },
        { title: 'state', of: ({ state }) => state },
        { title: 'attempts', of: ({ attempts }) => attempts.length },
        { title: 'next', of: ({ nextAttemptAt }) => nextAttemptAt },
        { title: 'age', of: ({ occurredAt }) => ago(occurredAt) },
      ],
      'Nothing was sent yet.',
    );
  },
};

const replay: CommandSpec = {
  usage: 'replay <id> [delivery...]',
  summary: 'Send deliveries once more: these, those of a time, or all that failed',
  options: [STATE, ['--from <time>', 'from then'], ['--to <time>', 'until then']],
  examples: ['webhook replay $WEBHOOK --state dead'],
  run: async (cli, [id = '', ...ids], flags) => {
    const body = present({
      ids: ids.length > 0 ? ids : undefined,
      state: flags.text('state') as State | undefined,
      from: flags.text('from'),
      to: flags.text('to'),
    });
    const params = { path: { id } };
    const answer = await cli.drover.post('/api/v1/webhooks/{id}/replay', { params, body });
    cli.out.done(answer, `Sent once more: ${answer.replayed}`);
  },
};

const commands: Commands = {
  webhook: {
    summary: 'Have events sent to a URL, see and replay deliveries',
    commands: [create, list, show, edit, remove, rotate, test, deliveries, replay],
  },
};

export default commands;
