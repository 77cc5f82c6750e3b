import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { usageError } from '../failure.js';
import { ask, askSecret } from '../prompt.js';
import { formatAge } from '../output/output.js';

const list: CommandSpec = {
  usage: 'list',
  summary: 'List all users of the installation',
  options: LIST_OPTIONS,
  examples: ['user list'],
  run: async (cli, _args, flags) => {
    const users = await readList(flags, (query) =>
      cli.drover.get('/api/v1/users', { params: { query } }),
    );
    cli.out.rows(
      users,
      [
        { title: 'id', isId: true, of: ({ id }) => id },
        { title: 'email', of: ({ email }) => email, wide: true },
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'operator', of: ({ isOperator }) => (isOperator ? 'yes' : null) },
        { title: 'verified', of: ({ emailVerified }) => (emailVerified ? 'yes' : 'no') },
        { title: 'disabled', of: ({ disabledAt }) => formatAge(disabledAt) },
      ],
      'No users found.',
    );
  },
};

const create: CommandSpec = {
  usage: 'create <email>',
  summary: 'Create a user and print the password once',
  options: [
    ['--name <text>', 'name of the user (default: the email address)'],
    ['--operator', 'let the user manage the installation'],
    ['--password-stdin', 'read the password instead of generating it'],
  ],
  examples: ['user create ann@example.org --name Ann'],
  run: async (cli, [email = ''], flags) => {
    const body = {
      email,
      name: flags.text('name') ?? email,
      ...(flags.has('operator') && { isOperator: true }),
      ...(flags.has('password-stdin') && { password: await askSecret('Password: ') }),
    };
    const user = await cli.drover.post('/api/v1/users', { body });
    cli.out.done(user, user.generatedPassword ?? user.id);
  },
};

const disable: CommandSpec = {
  usage: 'disable <user>',
  summary: 'Disable a user: end their sessions, keys and hooks',
  options: [['--keep-hooks', 'keep their webhooks and inbound hooks enabled']],
  examples: ['user disable ann@example.org'],
  run: async (cli, [id = ''], flags) => {
    const query = flags.has('keep-hooks') ? { keepHooks: true } : {};
    const params = { path: { id }, query };
    const user = await cli.drover.patch('/api/v1/users/{id}', { params, body: { disabled: true } });
    cli.out.done(user, `${user.email} disabled`);
  },
};

const enable: CommandSpec = {
  usage: 'enable <user>',
  summary: 'Let a disabled user sign in again',
  examples: ['user enable ann@example.org'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const user = await cli.drover.patch('/api/v1/users/{id}', {
      params,
      body: { disabled: false },
    });
    cli.out.done(user, `${user.email} enabled`);
  },
};

const verify: CommandSpec = {
  usage: 'verify <user>',
  summary: 'Confirm that the email address is of the user',
  about:
    'People who sign up by an invitation link can enter any address. Until you confirm it, single ' +
    'sign-on does not find the account by the address, and the user gets no email. ' +
    'Somebody else may have entered the address, so this ends the sessions, API keys, agent tokens ' +
    'and invitations of the account, disables its webhooks and inbound hooks, and removes its ' +
    'password and second factor. The person then signs in with the provider, or you run ' +
    '`drover user password <user>`.',
  examples: ['user verify ann@example.org'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const body = { emailVerified: true };
    const user = await cli.drover.patch('/api/v1/users/{id}', { params, body });
    cli.out.done(user, `${user.email} verified`);
  },
};

const unlink: CommandSpec = {
  usage: 'unlink <user>',
  summary: 'Remove the link of a user to the identity provider',
  about:
    'For a user whom the provider created anew. The sessions of single sign-on end, and the ' +
    'next single sign-on with the email address makes the new link.',
  examples: ['user unlink ann@example.org'],
  run: async (cli, [id = '']) => {
    await cli.drover.delete('/api/v1/users/{id}/links', { params: { path: { id } } });
    cli.out.done({ id }, 'Link removed; the sessions of the link have ended');
  },
};

const password: CommandSpec = {
  usage: 'password [user]',
  summary: 'Change your password, or reset the password of a user',
  about:
    'Without a user, it asks for your password and the new one; your other sessions end. With a ' +
    'user, operators get a generated password, and the sessions of the user end.',
  examples: ['user password', 'user password ann@example.org'],
  run: (cli, [id]) => (id === undefined ? changeOwn(cli) : reset(cli, id)),
};

const mfa: CommandSpec = {
  usage: 'mfa [user]',
  summary: 'Set up your second factor, or remove that of a user',
  about:
    'Without a user, it asks for your password, prints the secret for an app, asks for a code of ' +
    'the app and prints recovery codes once; your other sessions end. With a user, operators ' +
    'remove a lost second factor, and the sessions of the user end.',
  options: [
    ['--recovery-codes', 'replace your recovery codes'],
    ['--remove', 'remove your second factor'],
  ],
  examples: ['user mfa', 'user mfa --recovery-codes', 'user mfa ann@example.org'],
  run: async (cli, [id], flags) => {
    if (id !== undefined) return resetFactor(cli, id);
    const askCode = async () => ({ code: await ask('Code: ') });
    if (flags.has('remove')) {
      await cli.drover.post('/api/v1/auth/second-factor/remove', { body: await askCode() });
      return cli.out.done({}, 'Second factor removed');
    }
    if (!flags.has('recovery-codes')) {
      const body = { password: await askSecret('Password: ') };
      const { secret, uri } = await cli.drover.post('/api/v1/auth/second-factor', { body });
      cli.out.note(`Add this secret to your app: ${secret}\n${uri}`);
    }
    const path = flags.has('recovery-codes') ? 'recovery-codes' : 'complete';
    const answer = await cli.drover.post(`/api/v1/auth/second-factor/${path}`, {
      body: await askCode(),
    });
    cli.out.note('Store these recovery codes. Each is valid once:');
    cli.out.done(answer, ...answer.recoveryCodes);
  },
};

async function resetFactor(cli: Cli, id: string): Promise<void> {
  await cli.drover.delete('/api/v1/users/{id}/second-factor', { params: { path: { id } } });
  cli.out.done({ id }, 'Second factor removed; the sessions of the user have ended');
}

async function changeOwn(cli: Cli): Promise<void> {
  const currentPassword = await askSecret('Current password: ');
  const newPassword = await askSecret('New password: ');
  // Nobody sees a slip of the finger.
  if (process.stdin.isTTY && (await askSecret('New password again: ')) !== newPassword)
    throw usageError('The new passwords differ.', 'Nothing was changed. Type them again.');
  await cli.drover.post('/api/v1/auth/password', { body: { currentPassword, newPassword } });
  cli.out.done({}, 'Password changed; your other sessions have ended');
}

async function reset(cli: Cli, id: string): Promise<void> {
  const answer = await cli.drover.post('/api/v1/users/{id}/password', { params: { path: { id } } });
  cli.out.done(answer, answer.generatedPassword);
}

const commands: Commands = {
  user: {
    summary: 'Manage the users of the installation, and your password',
    commands: [list, create, disable, enable, verify, unlink, password, mfa],
  },
};

export default commands;
