import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { type Role, useWorkspace } from '../api/workspace.js';
import { plainOf } from '../domain/format.js';
import { FormDialog } from './form-dialog.js';
import { Ago, Button, Empty, Field, Loaded, Panel } from './parts.js';
import { columnsOf, Table } from './table.js';

type Member = components['schemas']['Member'];
type Invitation = components['schemas']['Invitation'];

const ROLES: Role[] = ['VIEWER', 'MEMBER', 'ADMIN', 'OWNER'];

const MEMBERS = columnsOf<Member>([
  {
    id: 'email',
    head: 'E-mail address',
    width: 'minmax(160px, 2fr)',
    cell: ({ email }) => <bdi title={email}>{plainOf(email)}</bdi>,
  },
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(100px, 1fr)',
    cell: ({ name }) => <bdi>{plainOf(name)}</bdi>,
  },
  { id: 'role', head: 'Role', width: '120px', cell: (member) => <RoleOf member={member} /> },
  { id: 'since', head: 'Since', width: '84px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  { id: 'remove', head: 'Change', width: '96px', cell: (member) => <Remove member={member} /> },
]);

/** Who is in the workspace. The server keeps its last owner, and says so. */
export function Members() {
  const { workspaceId } = useWorkspace();
  const members = useRead(['members'], (api, signal) => {
    const params = { path: { workspaceId }, query: { limit: 200 } };
    return api.get('/api/v1/workspaces/{workspaceId}/members', { params, signal });
  });
  return (
    <Panel title="Members" flush>
      <Loaded query={members}>
        {({ items }) => (
          <Table label="Members" columns={MEMBERS} rows={items} keyOf={({ userId }) => userId} />
        )}
      </Loaded>
    </Panel>
  );
}

function RoleOf({ member: { userId, role, email, version } }: { member: Member }) {
  const { may, workspaceId } = useWorkspace();
  const change = useCommand(
    (api, next: Role) =>
      api.patch('/api/v1/workspaces/{workspaceId}/members/{userId}', {
        params: { path: { workspaceId, userId }, header: { 'If-Match': `"${version}"` } },
        body: { role: next },
      }),
    { done: 'The role is changed.', changes: [['members']] },
  );
  if (!may('ADMIN')) return role;
  return (
    <select
      className="input"
      aria-label={`Role of ${email}`}
      value={role}
      disabled={change.isPending}
      onChange={(event) => change.mutate(event.target.value as Role)}
    >
      {ROLES.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

function Remove({ member: { userId, email } }: { member: Member }) {
  const { may, user, workspaceId } = useWorkspace();
  const remove = useCommand(
    (api) =>
      api.delete('/api/v1/workspaces/{workspaceId}/members/{userId}', {
        params: { path: { workspaceId, userId } },
      }),
    { done: 'They are no member any more.', changes: [['members']] },
  );
  const isSelf = user.id === userId;
  if (!may('ADMIN') && !isSelf) return null;
  return (
    <FormDialog
      open={isSelf ? 'Leave' : 'Remove'}
      title={isSelf ? 'Leave this workspace?' : `Remove ${email}?`}
      confirm={isSelf ? 'Leave' : 'Remove'}
      onConfirm={remove.mutate}
    >
      <p>Access ends at once, also of what is open now.</p>
    </FormDialog>
  );
}

const INVITATIONS = columnsOf<Invitation>([
  {
    id: 'email',
    head: 'E-mail address',
    width: 'minmax(160px, 2fr)',
    cell: ({ email }) => <bdi>{plainOf(email)}</bdi>,
  },
  { id: 'role', head: 'Role', width: '90px', cell: ({ role }) => role },
  { id: 'ends', head: 'Ends', width: '84px', cell: ({ expiresAt }) => <Ago at={expiresAt} /> },
  { id: 'revoke', head: 'Change', width: '96px', cell: ({ id }) => <Revoke id={id} /> },
]);

export function Invitations() {
  const { workspaceId } = useWorkspace();
  const invitations = useRead(['invitations'], (api, signal) => {
    const params = { path: { workspaceId }, query: { limit: 200 } };
    return api.get('/api/v1/workspaces/{workspaceId}/invitations', { params, signal });
  });
  return (
    <Panel title="Invitations" flush end={<Invite />}>
      <Loaded query={invitations}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nobody is invited" small>
              <p>Who is invited sees it when they sign in. Tell them: no mail is sent.</p>
            </Empty>
          ) : (
            <Table
              label="Invitations"
              columns={INVITATIONS}
              rows={items}
              keyOf={({ id }) => id}
              least={420}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function Invite() {
  const { workspaceId } = useWorkspace();
  const invite = useCommand(
    (api, form: FormData) =>
      api.post('/api/v1/workspaces/{workspaceId}/invitations', {
        params: { path: { workspaceId } },
        body: { email: String(form.get('email')), role: form.get('role') as Role },
      }),
    { done: 'They are invited.', changes: [['invitations']] },
  );
  return (
    <FormDialog open="Invite" title="Invite somebody" confirm="Invite" onConfirm={invite.mutate}>
      <Field label="E-mail address">
        <input className="input" name="email" type="email" required />
      </Field>
      <Field label="Role">
        <select className="input" name="role" defaultValue="MEMBER">
          {ROLES.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
    </FormDialog>
  );
}

function Revoke({ id }: { id: string }) {
  const { workspaceId } = useWorkspace();
  const revoke = useCommand(
    (api) =>
      api.delete('/api/v1/workspaces/{workspaceId}/invitations/{id}', {
        params: { path: { workspaceId, id } },
      }),
    { done: 'The invitation is taken back.', changes: [['invitations']] },
  );
  return (
    <Button disabled={revoke.isPending} onClick={() => revoke.mutate(undefined)}>
      Take back
    </Button>
  );
}
