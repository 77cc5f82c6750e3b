import type { Outcome } from './outcome.js';
import { valueText } from './words.js';

interface Invitation {
  workspaceName: string;
  invitedByName: string;
  role: string;
  link: string;
  expiresAt: Date;
}

/** An e-mail that invites somebody, with the link. */
export function invitationText(mail: Invitation): { subject: string; text: string } {
  const workspace = valueText(mail.workspaceName);
  const inviter = valueText(mail.invitedByName);
  const until = mail.expiresAt.toISOString().slice(0, 10);
  const text = [
    `${inviter} invites you to the workspace “${workspace}” on Drover as ${mail.role}.`,
    `To accept, open this link until ${until}. It is valid once:`,
    mail.link,
    `If you do not know ${inviter}, ignore this e-mail.`,
  ];
  return { subject: `Invitation to ${workspace} on Drover`, text: `${text.join('\n\n')}\n` };
}

const UNANSWERED: Partial<Record<string, string>> = {
  timeout: 'the mail server did not answer in time',
  tls_failed: 'the TLS connection to the mail server failed',
  name_not_resolved: 'the name of the mail server cannot be resolved',
};

/** Why a mail was not sent, as a phrase. Undefined if it was. */
export function mailProblem(outcome: Outcome, answer = ''): string | undefined {
  if (outcome.kind === 'delivered') return undefined;
  const words = valueText(answer);
  const quoted = words === '' ? '' : `: ${words}`;
  if (outcome.kind === 'unanswered') {
    return (UNANSWERED[outcome.error] ?? 'the mail server cannot be reached') + quoted;
  }
  return `the mail server refuses the e-mail${quoted || `: ${outcome.status}`}`;
}
