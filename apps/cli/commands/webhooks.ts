import type { CommandSpec, Commands } from '../command.js';
import { usageError } from '../failure.js';
import { omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatAge } from '../output/output.js';

const FIELDS = [
  ['--event <pattern...>', 'events, such as task.status_changed or task.*'],
  ['--description <text>', 'description of the webhook'],
] as const;

const create: CommandSpec = {
  usage: 'create [url]',
  summary: 'Create a webhook and print its signing secret once',
  options: [
    ...FIELDS,
    ['--kind <kind>', 'signed (for programs), slack, discord or email (default signed)'],
    ['--to <member...>', 'email recipients: members, by user ID or email address'],
    [
      '--digest <duration>',
      'minimum time between two messages to people, such as 5m; later events are joined',
    ],
  ],
  examples: [
    "webhook create https://example.org/drover --event 'task.*'",
    'webhook create --kind email --to ann@example.org --event budget.alert',
  ],
  run: async (cli, [url], flags) => {
    const body = {
      events: (flags.list('event') ?? ['*']) as ['*'],
      ...omitUndefined({
        url,
        kind: flags.text('kind') as 'slack' | undefined,
        recipients: flags.list('to'),
        description: flags.text('description'),
        digestSeconds: flags.seconds('digest'),
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
  summary: 'List webhooks',
  options: LIST_OPTIONS,
  examples: ['webhook list'],
  run: async (cli, _args, flags) => {
    const webhooks = await readList(flags, (query) =>
      cli.drover.get('/api/v1/webhooks', { params: { query } }),
    );
    cli.out.rows(
      webhooks,
      [
        { title: 'id', isId: true, of: ({ id }) => id },
        {
          title: 'enabled',
          of: ({ enabled, disabledReason }) => (enabled ? 'yes' : disabledReason),
        },
        { title: 'failures', of: ({ consecutiveFailures }) => consecutiveFailures },
        { title: 'events', of: ({ events }) => events.join(' '), wide: true },
        { title: 'url', of: ({ url }) => url, wide: true },
      ],
      'No webhooks found. Create one with `drover webhook create URL`.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <webhook>',
  summary: 'Show a webhook',
  examples: ['webhook show $WEBHOOK'],
  run: async (cli, [id = '']) => {
    const webhook = await cli.drover.get('/api/v1/webhooks/{id}', { params: { path: { id } } });
    cli.out.record(webhook, Object.entries(webhook));
  },
};

const edit: CommandSpec = {
  usage: 'edit <webhook>',
  summary: 'Change, disable or enable a webhook',
  options: [
    ['--url <url>', 'URL of the receiver'],
    ...FIELDS,
    ['--enable', 'enable the webhook'],
    ['--disable', 'disable the webhook'],
  ],
  examples: ['webhook edit $WEBHOOK --disable'],
  run: async (cli, [id = ''], flags) => {
    if (flags.has('enable') && flags.has('disable'))
      throw usageError('Use either --enable or --disable.');
    const enabled = flags.has('enable') || (flags.has('disable') ? false : undefined);
    const body = omitUndefined({
      url: flags.text('url'),
      events: flags.list('event') as ['*'] | undefined,
      enabled,
      description: flags.text('description'),
    });
    const params = { path: { id } };
    const webhook = await cli.drover.patch('/api/v1/webhooks/{id}', { params, body });
    cli.out.done(webhook, `Webhook ${id} updated`);
  },
};

const remove: CommandSpec = {
  usage: 'delete <webhook>',
  summary: 'Delete a webhook and its pending deliveries',
  examples: ['webhook delete $WEBHOOK'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    await cli.drover.delete('/api/v1/webhooks/{id}', { params });
    cli.out.done({ id }, `Webhook ${id} deleted`);
  },
};

const rotate: CommandSpec = {
  usage: 'rotate <webhook>',
  summary: 'Create a new signing secret and print it once',
  about: 'The old secret stays valid for 24 hours.',
  examples: ['webhook rotate $WEBHOOK'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const webhook = await cli.drover.post('/api/v1/webhooks/{id}/rotate', { params });
    cli.out.done(webhook, webhook.secret ?? `${id} has no signing secret`);
  },
};

const test: CommandSpec = {
  usage: 'test <webhook>',
  summary: 'Send a test event',
  examples: ['webhook test $WEBHOOK'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const answer = await cli.drover.post('/api/v1/webhooks/{id}/test', { params });
    cli.out.done(answer, `Test event queued; see \`drover webhook deliveries ${id}\``);
  },
};

const STATE = ['--state <state>', 'pending, delivered or dead'] as const;
type State = 'pending' | 'delivered' | 'dead';

const deliveries: CommandSpec = {
  usage: 'deliveries <webhook>',
  summary: 'List the deliveries of a webhook, newest first',
  options: [STATE, ...LIST_OPTIONS],
  examples: ['webhook deliveries $WEBHOOK --state dead'],
  run: async (cli, [id = ''], flags) => {
    const filter = omitUndefined({ state: flags.text('state') as State | undefined });
    const found = await readList(flags, (page) => {
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
        { title: 'next attempt', of: ({ nextAttemptAt }) => nextAttemptAt, wide: true },
        { title: 'age', of: ({ occurredAt }) => formatAge(occurredAt) },
      ],
      'No deliveries found.',
    );
  },
};

const replay: CommandSpec = {
  usage: 'replay <webhook> [delivery...]',
  summary: 'Replay deliveries by ID, by time or by state',
  options: [STATE, ['--from <time>', 'start of the period'], ['--to <time>', 'end of the period']],
  examples: ['webhook replay $WEBHOOK --state dead'],
  run: async (cli, [id = '', ...ids], flags) => {
    const body = omitUndefined({
      ids: ids.length > 0 ? ids : undefined,
      state: flags.text('state') as State | undefined,
      from: flags.text('from'),
      to: flags.text('to'),
    });
    const params = { path: { id } };
    const answer = await cli.drover.post('/api/v1/webhooks/{id}/replay', { params, body });
    cli.out.done(answer, `Deliveries queued again: ${answer.replayed}`);
  },
};

const commands: Commands = {
  webhook: {
    summary: 'Manage webhooks and their deliveries',
    commands: [create, list, show, edit, remove, rotate, test, deliveries, replay],
  },
};

export default commands;
