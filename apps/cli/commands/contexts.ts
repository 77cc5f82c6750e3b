import { setTimeout as delay } from 'node:timers/promises';
import { DroverProblem } from '#lib/api-client';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { connectTo, splitAddresses } from '../connect.js';
import type { Context } from '../contexts/contexts.js';
import { findAdministrator, LOCAL, startCommand } from '../contexts/local.js';
import { storedTokens, toTokens } from '../contexts/credentials.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageError } from '../failure.js';
import { omitUndefined } from '../flags.js';
import { ask, askSecret } from '../prompt.js';

const login: CommandSpec = {
  usage: 'login [url]',
  summary: 'Sign in to a server and save it as a context',
  about:
    'Asks for the password. Without a terminal, it reads standard input. With --sso, or where ' +
    'passwords do not sign in, it prints an address and a code: confirm them in any browser. With ' +
    '--api-key, it asks for an API key and saves the key instead. The context file has mode 600.\n\n' +
    'Several URLs of one installation are separated by commas. ' +
    'Without a URL, it signs in the first administrator of the local `drover up`. Use this to ' +
    'manage API keys, which an API key cannot do.',
  options: [
    ['--name <name>', 'name of the context (default: host of the URL)'],
    ['--email <address>', 'email address of the user'],
    ['--sso', 'sign in with the identity provider of the server'],
    ['--api-key', 'sign in with an API key'],
  ],
  examples: [
    'login',
    'login https://drover.example.org --email ann@example.org',
    'login https://drover.example.org --sso',
    'login http://127.0.0.1:3000 --api-key < key.txt',
  ],
  run: async (cli, [address], flags) => {
    const url = address === undefined ? cli.contexts.get(LOCAL).url : parseAddresses(address);
    const name =
      flags.text('name') ??
      (address === undefined ? LOCAL : new URL(splitAddresses(url)[0] ?? url).host);
    if (address !== undefined && name === LOCAL) throw localNameTaken();
    const signedIn = flags.has('api-key')
      ? await signInWithKey(url)
      : flags.has('sso') || !(await acceptsPasswords(url))
        ? await signInWithDevice(cli, url)
        : await signInWithPassword(
            url,
            await readPassword(flags.text('email'), address === undefined),
          );
    const workspaceId = cli.options.workspaceId;
    cli.contexts.put(name, { ...signedIn, ...(workspaceId && { workspaceId }) }, { use: true });
    cli.out.done({ name, url }, `Signed in to ${url} (context "${name}")`);
  },
};

/** The local context has the address of `drover up`, so no other server can use its name. */
function localNameTaken(): Failure {
  return usageError(
    `"${LOCAL}" is the server of \`drover up\` on this machine.`,
    'Choose another name.',
  );
}

function parseAddresses(text: string): string {
  return splitAddresses(text).map(parseAddress).join();
}

function parseAddress(text: string): string {
  try {
    const url = new URL(text);
    if (/^https?:$/.test(url.protocol))
      return `${url.origin}${url.pathname === '/' ? '' : url.pathname}`;
  } catch {
    // The error follows below.
  }
  throw usageError(`"${text}" is not a URL.`, 'Use a URL such as http://127.0.0.1:3000.');
}

async function signInWithKey(url: string): Promise<Context> {
  const apiKey = await askSecret('API key: ');
  const drover = connectTo({
    baseUrl: url,
    credentials: { headers: () => ({ authorization: `Bearer ${apiKey}` }) },
  });
  await drover.get('/api/v1/auth/caller');
  return { url, apiKey };
}

async function acceptsPasswords(url: string): Promise<boolean> {
  const methods = await connectTo({ baseUrl: url }).get('/api/v1/auth/methods');
  return methods.password;
}

/** Device authorization (RFC 8628): the user confirms a code in a browser, here or elsewhere. */
async function signInWithDevice(cli: Cli, url: string): Promise<Context> {
  const drover = connectTo({ baseUrl: url });
  const device = await drover.post('/api/v1/auth/device');
  const { deviceCode, userCode, verificationUri, verificationUriComplete } = device;
  cli.out.note(`Open ${verificationUriComplete ?? verificationUri}`);
  cli.out.note(`and confirm the code ${userCode}`);
  let seconds = device.intervalSeconds;
  const endsAt = Date.now() + device.expiresInSeconds * 1000;
  while (Date.now() < endsAt) {
    await delay(seconds * 1000);
    try {
      const answer = await drover.post('/api/v1/auth/device/complete', { body: { deviceCode } });
      return { url, tokens: toTokens(answer) };
    } catch (error) {
      if (!(error instanceof DroverProblem) || error.problem.code !== 'sign_in_pending')
        throw error;
      const { retryAfterSeconds } = error.problem as { retryAfterSeconds?: number };
      seconds += retryAfterSeconds ?? 0;
    }
  }
  throw new Failure('Nobody confirmed the code in time.', 'Sign in again.', EXIT.signIn);
}

interface Password {
  email: string;
  password: string;
}

async function readPassword(email: string | undefined, isLocal: boolean): Promise<Password> {
  const known = isLocal && email === undefined ? findAdministrator() : undefined;
  if (known) return known;
  return {
    email: email ?? (await ask('Email address: ')),
    password: await askSecret('Password: '),
  };
}

async function signInWithPassword(url: string, body: Password): Promise<Context> {
  const drover = connectTo({ baseUrl: url });
  const login = (code?: string) =>
    drover.post('/api/v1/auth/login', { body: { ...body, ...(code && { code }) } });
  const answer = await login().catch(async (error: unknown) => {
    const needsCode = error instanceof DroverProblem && error.code === 'second_factor_required';
    if (!needsCode) throw error;
    return login(await ask('Code of your app, or a recovery code: '));
  });
  return { url, tokens: toTokens(answer) };
}

const logout: CommandSpec = {
  usage: 'logout [name]',
  summary: 'Sign out and remove the context',
  examples: ['logout', 'logout drover.example.org'],
  run: async (cli, [word]) => {
    const name = word ?? cli.access().name ?? '';
    const { url, tokens } = cli.contexts.get(name);
    if (tokens) {
      // The access token may be expired. The credentials renew it, so that the session ends.
      const credentials = storedTokens(cli.contexts, name);
      const drover = connectTo({ baseUrl: url, retries: 0, credentials });
      // The context is removed in any case. The session ends at its expiry.
      await drover.post('/api/v1/auth/logout').catch((error: Error) => {
        cli.out.note(`drover: could not end the session: ${error.message}`);
      });
    }
    removeContext(cli, name);
  },
};

function removeContext(cli: Cli, name: string): void {
  cli.contexts.remove(name);
  const isHere = cli.contexts.list().some((context) => context.name === name);
  const note = isHere ? '; commands now use the API key of `drover up`' : '';
  cli.out.done({ name }, `Context ${name} removed${note}`);
}

const whoami: CommandSpec = {
  usage: 'whoami',
  summary: 'Print the current server and credentials',
  examples: ['whoami'],
  run: async (cli) => {
    const { url, name } = cli.access();
    const caller = await cli.drover.get('/api/v1/auth/caller');
    cli.out.record({ server: url, context: name ?? null, ...caller }, [
      ['server', url],
      ['context', name ?? 'environment'],
      ...Object.entries(caller),
    ]);
  },
};

const list: CommandSpec = {
  usage: 'list',
  summary: 'List contexts',
  examples: ['context list'],
  run: async (cli) => {
    const found = cli.contexts.list().map(({ name, context, current }) => ({
      name,
      url: context.url,
      current,
      workspaceId: context.workspaceId ?? null,
      signedIn: context.apiKey ? 'by API key' : 'as a user',
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
      `No contexts found. Start a server with \`${startCommand()}\`, or sign in with \`drover login URL\`.`,
    );
  },
};

const show: CommandSpec = {
  usage: 'show',
  summary: 'Show the current context',
  examples: ['context show'],
  run: async (cli) => {
    const { name, url, workspaceId } = cli.access();
    cli.out.record({ name: name ?? null, url, workspaceId: workspaceId ?? null }, [
      ['context', name ?? 'environment'],
      ['server', url],
      ['workspace', workspaceId],
      ['file', cli.contexts.path],
    ]);
  },
};

const set: CommandSpec = {
  usage: 'set <name>',
  summary: 'Change the address or the workspace of a context',
  about: 'The credentials stay the same. To replace them, run `drover login`.',
  options: [['--url <url>', 'URL of the server']],
  examples: ['context set drover.example.org --workspace $WORKSPACE'],
  run: async (cli, [name = ''], flags) => {
    const address = flags.text('url');
    const { workspaceId } = cli.options;
    if (address === undefined && workspaceId === undefined)
      throw usageError('Nothing to change.', 'Set --url or --workspace.');
    if (address !== undefined && name === LOCAL) throw localNameTaken();
    const changed = omitUndefined({ url: address && parseAddresses(address), workspaceId });
    cli.contexts.put(name, { ...cli.contexts.get(name), ...changed });
    cli.out.done({ name, ...changed }, `Context ${name} updated`);
  },
};

const use: CommandSpec = {
  usage: 'use <name>',
  summary: 'Switch to a context',
  examples: ['context use drover.example.org'],
  run: async (cli, [name = '']) => {
    cli.contexts.use(name);
    cli.out.done({ name }, `Switched to context ${name}`);
  },
};

const remove: CommandSpec = {
  usage: 'delete <name>',
  summary: 'Remove a context',
  examples: ['context delete drover.example.org'],
  run: async (cli, [name = '']) => removeContext(cli, name),
};

const commands: Commands = {
  login,
  logout,
  whoami,
  context: {
    summary: 'Manage contexts: servers with their credentials',
    commands: [list, show, set, use, remove],
  },
};

export default commands;
