import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { type Role, useWorkspace } from '../api/workspace.js';
import { stripControls } from '../domain/format.js';
import { FormDialog } from './form-dialog.js';
import { Ago, Button, Empty, Field, Loaded, Panel } from './parts.js';
import { defineColumns, Table } from './table.js';

type Member = components['schemas']['Member'];
type Invitation = components['schemas']['Invitation'];

const ROLES: Role[] = ['VIEWER', 'MEMBER', 'ADMIN', 'OWNER'];

const MEMBERS = defineColumns<Member>([
  {
    id: 'email',
    head: 'Email address',
    width: 'minmax(160px, 2fr)',
    cell: ({ email }) => <bdi title={email}>{stripControls(email)}</bdi>,
  },
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(100px, 1fr)',
    cell: ({ name }) => <bdi>{stripControls(name)}</bdi>,
  },
  { id: 'role', head: 'Role', width: '120px', cell: (member) => <RoleOf member={member} /> },
  { id: 'since', head: 'Joined', width: '84px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  { id: 'remove', head: 'Actions', width: '96px', cell: (member) => <Remove member={member} /> },
]);

/** The members of the workspace. The server refuses to remove its last owner. */
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
    { done: 'Role changed', changes: [['members']] },
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
  const isSelf = user.id === userId;
  const remove = useCommand(
    (api) =>
      api.delete('/api/v1/workspaces/{workspaceId}/members/{userId}', {
        params: { path: { workspaceId, userId } },
      }),
    { done: isSelf ? 'You left the workspace' : 'Member removed', changes: [['members']] },
  );
  if (!may('ADMIN') && !isSelf) return null;
  return (
    <FormDialog
      open={isSelf ? 'Leave' : 'Remove'}
      title={isSelf ? 'Leave this workspace?' : `Remove ${email}?`}
      confirm={isSelf ? 'Leave workspace' : 'Remove member'}
      onConfirm={remove.mutate}
    >
      <p>
        Access ends immediately, also in pages that are open now. The webhooks and inbound hooks of
        this member are disabled.
      </p>
    </FormDialog>
  );
}

const INVITATIONS = defineColumns<Invitation>([
  {
    id: 'email',
    head: 'Email address',
    width: 'minmax(160px, 2fr)',
    cell: ({ email }) => <bdi>{stripControls(email)}</bdi>,
  },
  { id: 'role', head: 'Role', width: '90px', cell: ({ role }) => role },
  { id: 'ends', head: 'Expires', width: '84px', cell: ({ expiresAt }) => <Ago at={expiresAt} /> },
  { id: 'revoke', head: 'Actions', width: '96px', cell: ({ id }) => <Revoke id={id} /> },
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
            <Empty title="No pending invitations" small>
              <p>Invitations appear after sign-in. Drover sends no email, so tell the person.</p>
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
    { done: 'Invitation created', changes: [['invitations']] },
  );
  return (
    <FormDialog
      open="Invite member"
      title="Invite member"
      confirm="Invite member"
      onConfirm={invite.mutate}
    >
      <Field label="Email address">
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
    { done: 'Invitation revoked', changes: [['invitations']] },
  );
  return (
    <Button disabled={revoke.isPending} onClick={() => revoke.mutate(undefined)}>
      Revoke
    </Button>
  );
}
