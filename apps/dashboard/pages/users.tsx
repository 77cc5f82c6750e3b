import { createContext, useContext, useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, usePages } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { FormDialog } from '../components/form-dialog.js';
import { Ago, Button, Empty, Field, Loaded, Page } from '../components/parts.js';
import { Secret } from '../components/secret.js';
import { defineColumns, Table } from '../components/table.js';
import { stripControls } from '../domain/format.js';

type User = components['schemas']['User'];

const CHANGES = [['users']];

/** Shows a password that the server generated. */
const PasswordContext = createContext<(password: string | undefined) => void>(() => undefined);

const COLUMNS = defineColumns<User>([
  {
    id: 'email',
    head: 'Email address',
    width: 'minmax(180px, 2fr)',
    cell: ({ email }) => <bdi title={email}>{stripControls(email)}</bdi>,
  },
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(120px, 1fr)',
    cell: ({ name }) => <bdi>{stripControls(name)}</bdi>,
  },
  {
    id: 'role',
    head: 'Role',
    width: '88px',
    cell: ({ isOperator }) => (isOperator ? 'Operator' : 'User'),
  },
  {
    id: 'state',
    head: 'Disabled',
    width: '92px',
    cell: ({ disabledAt }) => <Ago at={disabledAt} />,
  },
  { id: 'since', head: 'Created', width: '84px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    id: 'actions',
    head: 'Actions',
    width: '360px',
    cell: (user) => (
      <>
        <ResetPassword user={user} /> <ResetFactor user={user} />{' '}
        {user.disabledAt === null ? <Disable user={user} /> : <Enable user={user} />}
      </>
    ),
  },
]);

/** All users of the installation, for operators. */
export function UsersPage() {
  const { user } = useWorkspace();
  if (user.isOperator) return <Users />;
  return (
    <Page title="Users">
      <Empty title="Only operators can see this page">
        <p>An operator manages the users of the installation. Ask one for an account.</p>
      </Empty>
    </Page>
  );
}

function Users() {
  const [password, setPassword] = useState<string>();
  const users = usePages(['users'], (api, cursor, signal) =>
    api.get('/api/v1/users', { params: { query: { limit: 200, cursor } }, signal }),
  );
  return (
    <PasswordContext value={setPassword}>
      <Page title="Users" actions={<CreateUser />}>
        <div className="stack">
          {password !== undefined && <Secret title="New password" value={password} />}
          <Loaded query={users}>
            {({ pages }) => (
              <Table
                label="Users"
                columns={COLUMNS}
                rows={pages.flatMap(({ items }) => items)}
                keyOf={({ id }) => id}
                least={960}
              />
            )}
          </Loaded>
          {users.hasNextPage && (
            <Button onClick={() => void users.fetchNextPage()}>Show more users</Button>
          )}
        </div>
      </Page>
    </PasswordContext>
  );
}

function CreateUser() {
  const showPassword = useContext(PasswordContext);
  const create = useCommand(
    (api, form: FormData) => {
      const email = String(form.get('email')).trim();
      const name = String(form.get('name')).trim() || email;
      const isOperator = form.get('operator') === 'on';
      return api.post('/api/v1/users', { body: { email, name, isOperator } });
    },
    {
      done: 'User created',
      changes: CHANGES,
      onDone: ({ generatedPassword }) => showPassword(generatedPassword),
    },
  );
  return (
    <FormDialog
      open="Create user"
      look="primary"
      title="Create user"
      confirm="Create user"
      onConfirm={create.mutate}
    >
      <Field label="Email address">
        <input className="input" name="email" type="email" required maxLength={320} />
      </Field>
      <Field label="Name">
        <input className="input" name="name" maxLength={200} />
      </Field>
      <label>
        <input type="checkbox" name="operator" /> Operator, who manages the installation
      </label>
    </FormDialog>
  );
}

function ResetPassword({ user: { id, email } }: { user: User }) {
  const showPassword = useContext(PasswordContext);
  const params = { path: { id } };
  const reset = useCommand((api) => api.post('/api/v1/users/{id}/password', { params }), {
    done: 'Password reset',
    changes: CHANGES,
    onDone: ({ generatedPassword }) => showPassword(generatedPassword),
  });
  return (
    <FormDialog
      open="Reset password"
      title={`Reset the password of ${stripControls(email)}?`}
      confirm="Reset password"
      onConfirm={(_, callbacks) => reset.mutate(undefined, callbacks)}
    >
      <p>All sessions of the user end.</p>
    </FormDialog>
  );
}

function ResetFactor({ user: { id, email } }: { user: User }) {
  const params = { path: { id } };
  const reset = useCommand((api) => api.delete('/api/v1/users/{id}/second-factor', { params }), {
    done: 'Second factor removed',
    changes: CHANGES,
  });
  return (
    <FormDialog
      open="Reset factor"
      title={`Remove the second factor of ${stripControls(email)}?`}
      confirm="Remove second factor"
      onConfirm={(_, callbacks) => reset.mutate(undefined, callbacks)}
    >
      <p>The password alone then signs in. All sessions of the user end.</p>
    </FormDialog>
  );
}

function Disable({ user: { id, email } }: { user: User }) {
  const params = { path: { id } };
  const disable = useCommand(
    (api) => api.patch('/api/v1/users/{id}', { params, body: { disabled: true } }),
    { done: 'User disabled', changes: CHANGES },
  );
  return (
    <FormDialog
      open="Disable"
      title={`Disable ${stripControls(email)}?`}
      confirm="Disable user"
      onConfirm={(_, callbacks) => disable.mutate(undefined, callbacks)}
    >
      <p>The sessions and API keys of the user end, and their webhooks are disabled.</p>
    </FormDialog>
  );
}

function Enable({ user: { id } }: { user: User }) {
  const params = { path: { id } };
  const enable = useCommand(
    (api) => api.patch('/api/v1/users/{id}', { params, body: { disabled: false } }),
    { done: 'User enabled', changes: CHANGES },
  );
  return (
    <Button disabled={enable.isPending} onClick={() => enable.mutate(undefined)}>
      Enable
    </Button>
  );
}
