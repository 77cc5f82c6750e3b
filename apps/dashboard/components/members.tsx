import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { type Role, useWorkspace } from '../api/workspace.js';
import { stripControls } from '../domain/format.js';
import { Confirm } from './confirm.js';
import { FormDialog } from './form-dialog.js';
import { Ago, Button, Empty, Field, Loaded, Panel } from './parts.js';
import { Secret } from './secret.js';
import { defineColumns, Table } from './table.js';

type Member = components['schemas']['Member'];
type MemberHook = components['schemas']['MemberHook'];
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

export function useMembers() {
  const { workspaceId } = useWorkspace();
  return useRead(['members'], (api, signal) => {
    const params = { path: { workspaceId }, query: { limit: 200 } };
    return api.get('/api/v1/workspaces/{workspaceId}/members', { params, signal });
  });
}

/** The members of the workspace. The server refuses to remove its last owner. */
export function Members() {
  const members = useMembers();
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

/** Whether members with the role can manage webhooks and inbound hooks. */
function managesHooks(role: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf('ADMIN');
}

function RoleOf({ member: { userId, role, email, version } }: { member: Member }) {
  const { may, workspaceId } = useWorkspace();
  const dialog = useRef<HTMLDialogElement>(null);
  /** The role that the dialog asks about. */
  const [lower, setLower] = useState<Role>();
  const change = useCommand(
    (api, { next, keepHooks }: { next: Role; keepHooks: boolean }) =>
      api.patch('/api/v1/workspaces/{workspaceId}/members/{userId}', {
        params: {
          path: { workspaceId, userId },
          query: keepHooks ? { keepHooks } : {},
          header: { 'If-Match': `"${version}"` },
        },
        body: { role: next },
      }),
    { done: ({ hooks }) => `Role changed${describeHooks(hooks)}`, changes: [['members']] },
  );
  function select(next: Role): void {
    if (!managesHooks(role) || managesHooks(next)) {
      return change.mutate({ next, keepHooks: false });
    }
    setLower(next);
    dialog.current?.showModal();
  }
  if (!may('ADMIN')) return role;
  return (
    <>
      <select
        className="input"
        aria-label={`Role of ${email}`}
        value={role}
        disabled={change.isPending}
        onChange={(event) => select(event.target.value as Role)}
      >
        {ROLES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <Confirm
        dialog={dialog}
        title={`Lower ${email} to ${lower ?? role}?`}
        confirm="Change role"
        onConfirm={(form, callbacks) =>
          change.mutate({ next: lower ?? role, keepHooks: keepsHooks(form) }, callbacks)
        }
      >
        <p>The webhooks and inbound hooks that this member created are disabled.</p>
        <KeepHooks />
      </Confirm>
    </>
  );
}

function KeepHooks() {
  return (
    <label>
      <input type="checkbox" name="keepHooks" /> Keep these hooks enabled
    </label>
  );
}

function keepsHooks(form: FormData): boolean {
  return form.has('keepHooks');
}

/** Continues a confirmation with the hooks that the member created. */
function describeHooks(hooks: MemberHook[]): string {
  const nameHooks = (verb: string, chosen: MemberHook[]): string => {
    const names = chosen.map(({ kind, description, id }) => {
      const name = description === null ? id : stripControls(description);
      return `${kind === 'webhook' ? 'webhook' : 'inbound hook'} ${name}`;
    });
    return names.length === 0 ? '' : `; ${verb}: ${names.join(', ')}`;
  };
  const disabled = hooks.filter(({ enabled }) => !enabled);
  const kept = hooks.filter(({ enabled }) => enabled);
  return nameHooks('disabled', disabled) + nameHooks('still enabled', kept);
}

function Remove({ member: { userId, email } }: { member: Member }) {
  const { may, user, workspaceId } = useWorkspace();
  const isSelf = user.id === userId;
  const queries = useQueryClient();
  const remove = useCommand(
    (api, form: FormData) =>
      api.delete('/api/v1/workspaces/{workspaceId}/members/{userId}', {
        params: {
          path: { workspaceId, userId },
          query: keepsHooks(form) ? { keepHooks: true } : {},
        },
      }),
    {
      done: ({ hooks }) =>
        `${isSelf ? 'You left the workspace' : 'Member removed'}${describeHooks(hooks)}`,
      changes: [['members']],
      onDone: () => isSelf && void queries.invalidateQueries({ queryKey: ['me'] }),
    },
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
        Access ends immediately, also in pages that are open now. The webhooks and inbound hooks
        that this member created are disabled.
      </p>
      <KeepHooks />
    </FormDialog>
  );
}

const EMAIL_WORDS = { none: 'None', sending: 'Sending', sent: 'Sent' } as const;

function describeEmail({ emailStatus, emailProblem }: Invitation): string {
  if (emailStatus === 'failed') return `Not sent: ${stripControls(emailProblem ?? '')}`;
  return EMAIL_WORDS[emailStatus];
}

/** The next step of the inviter after the invitation was created. */
function adviseInviter(invitation: Invitation): string {
  const { emailStatus, email } = invitation;
  if (emailStatus === 'sent') return `Invitation sent to ${email}`;
  if (emailStatus === 'sending') return `Sending the invitation to ${email}`;
  if (emailStatus === 'none') return 'Invitation created. Send the link to the person';
  return 'Invitation created, but its e-mail was not sent';
}

const invitationColumns = (onLink: OnLink) =>
  defineColumns<Invitation>([
    {
      id: 'email',
      head: 'Email address',
      width: 'minmax(160px, 2fr)',
      cell: ({ email }) => <bdi>{stripControls(email ?? 'Anybody with the link')}</bdi>,
    },
    { id: 'role', head: 'Role', width: '90px', cell: ({ role }) => role },
    {
      id: 'mail',
      head: 'E-mail',
      width: 'minmax(90px, 1fr)',
      cell: (invitation) => {
        const text = describeEmail(invitation);
        return <bdi title={text}>{text}</bdi>;
      },
    },
    { id: 'ends', head: 'Expires', width: '84px', cell: ({ expiresAt }) => <Ago at={expiresAt} /> },
    {
      id: 'actions',
      head: 'Actions',
      width: '190px',
      cell: (invitation) => (
        <span className="chips">
          <Revoke id={invitation.id} />
          {invitation.emailStatus === 'failed' && (
            <SendAgain invitation={invitation} onLink={onLink} />
          )}
        </span>
      ),
    },
  ]);

type OnLink = (link: string) => void;

export function Invitations() {
  const { workspaceId } = useWorkspace();
  const [link, setLink] = useState<string>();
  const invitations = useRead(['invitations'], (api, signal) => {
    const params = { path: { workspaceId }, query: { limit: 200 } };
    return api.get('/api/v1/workspaces/{workspaceId}/invitations', { params, signal });
  });
  return (
    <>
      {link !== undefined && <Secret title="Invitation link" value={link} />}
      <Panel title="Invitations" flush end={<Invite onLink={setLink} />}>
        <Loaded query={invitations}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No pending invitations" small>
                <p>Invite a member by e-mail address, or create a link for anybody.</p>
              </Empty>
            ) : (
              <Table
                label="Invitations"
                columns={invitationColumns(setLink)}
                rows={items}
                keyOf={({ id }) => id}
                least={560}
              />
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function useInvite(onLink: OnLink) {
  const { workspaceId } = useWorkspace();
  return useCommand(
    (api, body: { email?: string; role: Role }) =>
      api.post('/api/v1/workspaces/{workspaceId}/invitations', {
        params: { path: { workspaceId } },
        body,
      }),
    {
      done: adviseInviter,
      changes: [['invitations']],
      onDone: ({ link }) => onLink(link),
    },
  );
}

/** Invites again, which replaces the link. */
function SendAgain({
  invitation: { email, role },
  onLink,
}: {
  invitation: Invitation;
  onLink: OnLink;
}) {
  const invite = useInvite(onLink);
  return (
    <Button
      disabled={invite.isPending}
      onClick={() => invite.mutate({ ...(email !== null && { email }), role })}
    >
      Send again
    </Button>
  );
}

function Invite({ onLink }: { onLink: OnLink }) {
  const invite = useInvite(onLink);
  return (
    <FormDialog
      open="Invite member"
      title="Invite member"
      confirm="Invite member"
      onConfirm={(form, callbacks) =>
        invite.mutate({ ...emailIn(form), role: form.get('role') as Role }, callbacks)
      }
    >
      <Field label="Email address" hint="Leave it empty to invite anybody who has the link.">
        <input className="input" name="email" type="email" maxLength={320} />
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

function emailIn(form: FormData): { email?: string } {
  const email = String(form.get('email')).trim();
  return email === '' ? {} : { email };
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
