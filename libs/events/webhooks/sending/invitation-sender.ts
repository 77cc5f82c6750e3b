import { Injectable } from '@nestjs/common';
import type { InvitationMail, InvitationMailer } from '#lib/identity';
import { invitationText, mailProblem } from '../domain/invitation-mail.js';
import { MailClient } from './mail-client.js';

/** Sends links of invitations by the operator's mail server, for `identity`. */
@Injectable()
export class InvitationSender implements InvitationMailer {
  constructor(private readonly mail: MailClient) {}

  async sendInvitation(mail: InvitationMail): Promise<string | undefined> {
    const { outcome, answer } = await this.mail.send({
      to: [mail.to],
      id: mail.id,
      ...invitationText(mail),
    });
    return mailProblem(outcome, answer);
  }
}
