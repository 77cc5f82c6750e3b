import { createClient } from '#lib/api-client';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import type { Context } from '../contexts/contexts.js';
import { findAdministrator, LOCAL } from '../contexts/local.js';
import { storedTokens, tokensOf } from '../contexts/credentials.js';
import { type Failure, misuse } from '../failure.js';
import { present } from '../flags.js';
import { ask, askSecret } from '../prompt.js';

const login: CommandSpec = {
  usage: 'login [url]',
  summary: 'Sign in to a server, and keep it as a context',
  about:
    'Asks for the password, or reads it from standard input where that is no terminal. With --api-key it keeps a key\n' +
    'instead, which it asks for too. The file of contexts has mode 600. Without a URL it signs in the first\n' +
    'administrator of the server that `drover up` started here: an API key may not manage keys and members.',
  options: [
    ['--name <name>', 'the name of the context; the host unless given'],
    ['--email <address>', 'who signs in'],
    ['--api-key', 'keep an API key'],
  ],
  examples: [
    'login',
    'login https://drover.example.org --email ann@example.org',
    'login http://127.0.0.1:3000 --api-key < key.txt',
  ],
  run: async (cli, [given], flags) => {
    const url = given === undefined ? cli.contexts.get(LOCAL).url : addressOf(given);
    const name = flags.text('name') ?? (given === undefined ? LOCAL : new URL(url).host);
    if (given !== undefined && name === LOCAL) throw ofHere();
    const signedIn = flags.has('api-key')
      ? await withKey(url)
      : await withPassword(url, await passwordFor(flags.text('email'), given === undefined));
    const workspaceId = cli.options.workspaceId;
    cli.contexts.put(name, { ...signedIn, ...(workspaceId && { workspaceId }) }, { use: true });
    cli.out.done({ name, url }, `Signed in to ${url}; the context is "${name}"`);
  },
};

/** Its address is where `drover up` started it. */
function ofHere(): Failure {
  return misuse(
    `"${LOCAL}" is the server that \`drover up\` starts here.`,
    'Give another server another name.',
  );
}

function addressOf(given: string): string {
  try {
    const url = new URL(given);
    if (/^https?:$/.test(url.protocol))
      return `${url.origin}${url.pathname === '/' ? '' : url.pathname}`;
  } catch {
    // Told below.
  }
  throw misuse(`"${given}" is no address.`, 'Write it as http://127.0.0.1:3000.');
}

async function withKey(url: string): Promise<Context> {
  const apiKey = await askSecret('API key: ');
  const drover = createClient({
    baseUrl: url,
    credentials: { headers: () => ({ authorization: `Bearer ${apiKey}` }) },
  });
  await drover.get('/api/v1/auth/caller');
  return { url, apiKey };
}

interface Password {
  email: string;
  password: string;
}

async function passwordFor(given: string | undefined, isLocal: boolean): Promise<Password> {
  const known = isLocal && given === undefined ? findAdministrator() : undefined;
  if (known) return known;
  return { email: given ?? (await ask('E-mail: ')), password: await askSecret('Password: ') };
}

async function withPassword(url: string, body: Password): Promise<Context> {
  const answer = await createClient({ baseUrl: url }).post('/api/v1/auth/login', { body });
  return { url, tokens: tokensOf(answer) };
}

const logout: CommandSpec = {
  usage: 'logout [name]',
  summary: 'End the session of a context, and forget it',
  examples: ['logout', 'logout drover.example.org'],
  run: async (cli, [given]) => {
    const name = given ?? cli.access().name ?? '';
    const { url, tokens } = cli.contexts.get(name);
    if (tokens) {
      // Its access token may have ended long ago: a session that is left so would go on.
      const credentials = storedTokens(cli.contexts, name);
      const drover = createClient({ baseUrl: url, retries: 0, credentials });
      // Forgotten here in any case; a session ends by itself.
      await drover.post('/api/v1/auth/logout').catch((error: Error) => {
        cli.out.note(`drover: the session could not be ended: ${error.message}`);
      });
    }
    forget(cli, name);
  },
};

function forget(cli: Cli, name: string): void {
  cli.contexts.remove(name);
  const isHere = cli.contexts.list().some((context) => context.name === name);
  const still = 'is forgotten, and asked with the API key of `drover up` from now on';
  cli.out.done({ name }, `${name} ${isHere ? still : 'is forgotten'}`);
}

const whoami: CommandSpec = {
  usage: 'whoami',
  summary: 'Say whose credentials are used, and where',
  examples: ['whoami'],
  run: async (cli) => {
    const { url, name } = cli.access();
    const caller = await cli.drover.get('/api/v1/auth/caller');
    cli.out.record({ server: url, context: name ?? null, ...caller }, [
      ['server', url],
      ['context', name ?? 'the environment'],
      ...Object.entries(caller),
    ]);
  },
};

const list: CommandSpec = {
  usage: 'list',
  summary: 'List the servers that are known here',
  examples: ['context list'],
  run: async (cli) => {
    const found = cli.contexts.list().map(({ name, context, current }) => ({
      name,
      url: context.url,
      current,
      workspaceId: context.workspaceId ?? null,
      signedIn: context.apiKey ? 'by API key' : 'by password',
    }));
    cli.out.rows(
      found,
      [
        { title: ' ', of: ({ current }) => (current ? '*' : ' ') },
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'url', of: ({ url }) => url, wide: true },
        { title: 'workspace', of: ({ workspaceId }) => workspaceId },
        { title: 'signed in', of: ({ signedIn }) => signedIn },
      ],
      'No server is known. Start one with `drover up`, or sign in with `drover login URL`.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show',
  summary: 'Say which server is asked',
  examples: ['context show'],
  run: async (cli) => {
    const { name, url, workspaceId } = cli.access();
    cli.out.record({ name: name ?? null, url, workspaceId: workspaceId ?? null }, [
      ['context', name ?? 'the environment'],
      ['server', url],
      ['workspace', workspaceId],
      ['file', cli.contexts.path],
    ]);
  },
};

const set: CommandSpec = {
  usage: 'set <name>',
  summary: 'Change the address or the workspace of a context',
  about: 'Credentials stay: `drover login` replaces them.',
  options: [['--url <url>', 'where its server is']],
  examples: ['context set drover.example.org --workspace $WORKSPACE'],
  run: async (cli, [name = ''], flags) => {
    const given = flags.text('url');
    const { workspaceId } = cli.options;
    if (given === undefined && workspaceId === undefined)
      throw misuse('There is nothing to change.', 'Give --url or --workspace.');
    if (given !== undefined && name === LOCAL) throw ofHere();
    const changed = present({ url: given && addressOf(given), workspaceId });
    cli.contexts.put(name, { ...cli.contexts.get(name), ...changed });
    cli.out.done({ name, ...changed }, `${name} is changed`);
  },
};

const use: CommandSpec = {
  usage: 'use <name>',
  summary: 'Ask another server from now on',
  examples: ['context use drover.example.org'],
  run: async (cli, [name = '']) => {
    cli.contexts.use(name);
    cli.out.done({ name }, `${name} is used`);
  },
};

const remove: CommandSpec = {
  usage: 'delete <name>',
  summary: 'Forget a server',
  examples: ['context delete drover.example.org'],
  run: async (cli, [name = '']) => forget(cli, name),
};

const commands: Commands = {
  login,
  logout,
  whoami,
  context: {
    summary: 'Servers that are known here, and which is used',
    commands: [list, show, set, use, remove],
  },
};

export default commands;
