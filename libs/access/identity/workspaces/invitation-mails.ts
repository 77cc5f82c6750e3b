import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import type { MemberRole } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { linkOf } from '../domain/link-token.js';
import { Attempts } from '../rate-limit/attempts.js';
import { findMailOfInvitation, settleMail } from '../store/invitations.sql.js';
import type { InvitationView } from './invitations.service.js';

/** Maximum wait of an inviter for the mail server. A slow one continues after the answer. */
const WAIT_MS = 5_000;
/** Maximum wait of a server that ends. */
const STOP_MS = 5_000;

/** The content of an e-mail that invites somebody. */
export interface InvitationMail {
  id: string;
  to: string;
  link: string;
  role: MemberRole;
  workspaceName: string;
  invitedByName: string;
  expiresAt: Date;
}

/** A library that sends e-mail. */
export interface InvitationMailer {
  /** Never throws. @returns undefined, or the reason why the mail was not sent, as a phrase */
  sendInvitation(mail: InvitationMail): Promise<string | undefined>;
}

/**
 * Sends links of invitations by e-mail, once. The row says what became of the mail, and the inviter
 * sends it again by inviting again. So no mail with a token waits in a table.
 */
@Injectable()
export class InvitationMails implements BeforeApplicationShutdown {
  private mailer: InvitationMailer | undefined;
  private readonly pending = new Set<Promise<unknown>>();

  constructor(
    private readonly database: Database,
    private readonly attempts: Attempts,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'http' | 'identity' | 'mail'>,
  ) {}

  use(mailer: InvitationMailer): void {
    this.mailer = mailer;
  }

  /** True if a mail server is set. */
  get isOn(): boolean {
    return this.config.mail !== undefined && this.mailer !== undefined;
  }

  async beforeApplicationShutdown(): Promise<void> {
    const stop = delay(STOP_MS, undefined, { ref: false });
    await Promise.race([Promise.all(this.pending), stop]);
  }

  /**
   * Sends the mail of an invitation whose row says `sending`.
   *
   * @returns the invitation with what is known after 5 s
   */
  async send<T extends InvitationView>(workspaceId: string, made: T, token: string): Promise<T> {
    const sending = this.deliver(workspaceId, made, token)
      .catch((error: unknown) => {
        this.logger.error('e-mail of an invitation not sent', { invitationId: made.id, error });
        return made;
      })
      .finally(() => this.pending.delete(sending));
    this.pending.add(sending);
    const wait = new AbortController();
    const late = delay(WAIT_MS, made, { signal: wait.signal }).catch(() => made);
    const known = await Promise.race([sending, late]);
    wait.abort();
    return known;
  }

  private async deliver<T extends InvitationView>(
    workspaceId: string,
    made: T,
    token: string,
  ): Promise<T> {
    const problem = (await this.attempt(workspaceId, made, token)) ?? null;
    const emailStatus = problem === null ? 'sent' : 'failed';
    const values = [workspaceId, made.id, emailStatus, problem];
    await this.database.tenant(workspaceId).rows(settleMail, values);
    if (problem !== null) {
      this.logger.warn('e-mail of an invitation not sent', { invitationId: made.id, problem });
    }
    return { ...made, emailStatus, emailProblem: problem };
  }

  private async attempt(
    workspaceId: string,
    { id, email, role, invitedBy, expiresAt }: InvitationView,
    token: string,
  ): Promise<string | undefined> {
    const { service } = this.database;
    const values = [workspaceId, id, !this.config.identity.openSignUp];
    const found = await firstRow(service, findMailOfInvitation, values);
    if (found === undefined || email === null) return 'the invitation ended';
    if (!found.trusted) return 'nobody confirmed your own address, and anybody can sign up here';
    const { publicUrl } = this.config.http;
    // The host of a request could be anybody's.
    if (publicUrl === undefined) return 'the server has no PUBLIC_URL, which an operator sets';
    if (!(await this.attempts.toMailInvitation(invitedBy, email))) {
      return 'too many were sent within an hour';
    }
    return this.mailer?.sendInvitation({
      id,
      to: email,
      link: linkOf(publicUrl, token),
      role,
      workspaceName: found.workspace_name,
      invitedByName: found.invited_by_name,
      expiresAt,
    });
  }
}
