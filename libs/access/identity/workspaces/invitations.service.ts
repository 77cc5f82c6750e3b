import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import {
  Database,
  describeChange,
  firstRow,
  type Transaction,
  violatedConstraint,
} from '#lib/database';
import {
  type Caller,
  DroverError,
  idOfCursor,
  type MemberRole,
  type Page,
  toPage,
} from '#lib/kernel';
import { normalizeEmail } from '../domain/email.js';
import { hashLinkToken, issueLinkToken } from '../domain/link-token.js';
import { decideAdd } from '../domain/member-rules.js';
import {
  type Accepted,
  acceptInvitation,
  acceptLink,
  declineInvitation,
  type InvitationRow,
  invite,
  listInvitations,
  listInvitationsOf,
} from '../store/invitations.sql.js';
import { Revocations } from '../tokens/revocations.js';
import { actorOf, enforce } from './actor.js';
import { InvitationMails } from './invitation-mails.js';

export const EMAIL_STATUSES = ['none', 'sending', 'sent', 'failed'] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

/** An invitation as the workspace's administrators see it. */
export interface InvitationView {
  id: string;
  /** Null: anybody who has the link can accept. */
  email: string | null;
  role: MemberRole;
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
  emailStatus: EmailStatus;
  /** Why the e-mail was not sent, as a phrase. */
  emailProblem: string | null;
}

/** A new invitation, with the token of its link, which is stored only as a hash. */
export interface NewInvitationView extends InvitationView {
  token: string;
}

/** An invitation as the invited user sees it. */
export interface OwnInvitationView {
  id: string;
  workspaceId: string;
  workspaceName: string;
  role: MemberRole;
  invitedByName: string;
  createdAt: Date;
  expiresAt: Date;
}

export interface AcceptedInvitation {
  workspaceId: string;
  role: MemberRole;
}

interface PageRequest {
  limit: number;
  cursor?: string;
}

/** Invitations to a workspace, for an address or the holder of the link, who accept or decline. */
@Injectable()
export class InvitationsService {
  constructor(
    private readonly database: Database,
    private readonly revocations: Revocations,
    private readonly mails: InvitationMails,
    @Inject(CONFIG) private readonly config: Pick<Config, 'identity'>,
  ) {}

  /**
   * Invites an address for 14 days, in place of an earlier invitation, or anybody who has the link.
   * The answer does not depend on whether the account exists. If the server has a mail server, the
   * address gets the link.
   *
   * @throws DroverError `forbidden`, or `already_member` for a member's address, which the caller
   *   can see anyway
   */
  async invite(
    caller: Caller,
    email: string | undefined,
    role: MemberRole,
  ): Promise<NewInvitationView> {
    const actor = actorOf(caller);
    enforce(decideAdd(actor, role));
    const { workspaceId, userId } = caller as Extract<Caller, { userId: string }>;
    const { token, hash } = issueLinkToken();
    const address = email === undefined ? null : normalizeEmail(email);
    const values = [workspaceId, randomUUID(), address, role, userId, hash, this.mails.isOn];
    const tenant = this.database.tenant(workspaceId);
    const made = await firstRow(tenant, invite, values).catch((error: unknown) => {
      if (violatedConstraint(error) !== 'workspace_invitations_inviter_fkey') throw error;
      throw new DroverError('forbidden', { cause: error });
    });
    if (made === undefined) throw new DroverError('already_member');
    const view = { ...toView(made), token };
    return view.emailStatus === 'sending' ? this.mails.send(workspaceId, view, token) : view;
  }

  /** The open invitations. */
  async list({ workspaceId }: Caller, page: PageRequest): Promise<Page<InvitationView>> {
    const values = [workspaceId, idOfCursor(page.cursor), page.limit + 1];
    const rows = await this.database.tenant(workspaceId).rows(listInvitations, values);
    return toPage(rows, page.limit, ({ id }) => [id], toView);
  }

  /** @throws DroverError `invitation_not_found` */
  async revoke({ workspaceId }: Caller, id: string): Promise<void> {
    const where = { workspaceId, id };
    const { count } = await this.database
      .tenant(workspaceId)
      .prisma((tx) => tx.workspaceInvitation.deleteMany({ where }));
    if (count === 0) throw new DroverError('invitation_not_found');
  }

  /** The invitations of the user's address, if the address is proven. */
  async listOwn(userId: string, page: PageRequest): Promise<Page<OwnInvitationView>> {
    const provesAddress = !this.config.identity.openSignUp;
    const values = [userId, provesAddress, idOfCursor(page.cursor), page.limit + 1];
    const rows = await this.database.service.rows(listInvitationsOf, values);
    return toPage(
      rows,
      page.limit,
      ({ id }) => [id],
      ({ id, role, ...row }) => ({
        id,
        workspaceId: row.workspace_id,
        workspaceName: row.workspace_name,
        role,
        invitedByName: row.invited_by_name,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
      }),
    );
  }

  /** @throws DroverError `invitation_not_found` or `already_member` */
  accept(userId: string, id: string): Promise<AcceptedInvitation> {
    return this.join(userId, (tx) => firstRow(tx, acceptInvitation, [id, userId]));
  }

  /**
   * Accepts by the link, whose invitation can name another address than the user's.
   *
   * @throws DroverError `invitation_not_found` or `already_member`
   */
  acceptByLink(userId: string, token: string): Promise<AcceptedInvitation> {
    return this.join(userId, (tx) => firstRow(tx, acceptLink, [hashLinkToken(token), userId]));
  }

  /**
   * Makes a user a member by the statement of `accept`, in one transaction.
   *
   * @throws DroverError `invitation_not_found` or `already_member`
   */
  async join(
    userId: string,
    accept: (tx: Transaction) => Promise<Accepted | undefined>,
  ): Promise<AcceptedInvitation> {
    const taken = await this.database.service.transaction(async (tx) => {
      const row = await accept(tx);
      if (row === undefined) throw new DroverError('invitation_not_found');
      if (!row.made) throw new DroverError('already_member');
      // Servers also cache for seconds that a user is no member.
      await this.revocations.revoke(tx, [{ kind: 'user', userId }]);
      const { workspace_id: workspaceId, role, invited_by: invitedBy } = row;
      const details = { roleBefore: null, role, invitedBy };
      await describeChange(tx, { workspaceId, userId, details });
      return { workspaceId, role };
    });
    await this.revocations.announce();
    return taken;
  }

  /** @throws DroverError `invitation_not_found` */
  async decline(userId: string, id: string): Promise<void> {
    const gone = await firstRow(this.database.service, declineInvitation, [id, userId]);
    if (gone === undefined) throw new DroverError('invitation_not_found');
  }
}

function toView({ id, email, role, ...row }: InvitationRow): InvitationView {
  const { invited_by: invitedBy, created_at: createdAt, expires_at: expiresAt } = row;
  const invitation = { id, email, role, invitedBy, createdAt, expiresAt };
  if (row.email_status === 'lost') {
    const emailProblem = 'the result was lost, because the server ended or lost its database';
    return { ...invitation, emailStatus: 'failed', emailProblem };
  }
  const emailStatus = row.email_status ?? 'none';
  return { ...invitation, emailStatus, emailProblem: row.email_problem };
}
