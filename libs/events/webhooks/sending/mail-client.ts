import { Inject, Injectable } from '@nestjs/common';
import { connect, type Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import { CONFIG, type Config, type MailServer } from '#lib/config';
import { SecretValues } from '#lib/secrets';
import { type Outcome, sendErrorOf } from '../domain/outcome.js';
import type { Attempt } from './webhook-client.js';

/** Maximum number of conversations with the mail server. */
const MAX_OPEN = 16;
/**
 * Maximum wait for a free conversation, in milliseconds. Together with the conversation it is
 * shorter than a lease.
 */
const WAIT_MS = 15_000;
/**
 * Factor on the time limit of a webhook. A server that scans a mail answers late, and abandoning it
 * would send the mail twice. RFC 5321 (4.5.3.2) recommends minutes, which no lease allows.
 */
const PATIENCE = 4;
const LONGEST_MS = 40_000;

export interface Mail {
  to: string[];
  subject: string;
  text: string;
  /** The part of its Message-ID before the @, the same at each attempt. */
  id: string;
}

/** The result of one e-mail. */
export interface MailAttempt extends Attempt {
  /** Addresses that the mail server may accept later. */
  left: string[];
}

type Answers = Pick<SmtpError, 'rejectedErrors' | 'response'> & { accepted?: string[] };

/** nodemailer's error of a failed conversation. */
interface SmtpError {
  code?: string;
  /** The code of the socket's own error, if `code` only says that it was the socket's. */
  originalCode?: string;
  response?: string;
  responseCode?: number;
  /** Errors of single recipients. */
  rejectedErrors?: { recipient?: string; response?: string; responseCode?: number }[];
}

/** Hands e-mail to the operator's mail server, which alone resolves addresses. */
@Injectable()
export class MailClient {
  private readonly open = new Set<Socket>();
  private readonly waiting = new Set<() => void>();
  private busy = 0;
  private closed = false;

  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'mail' | 'webhooks'>) {}

  /** Ends running conversations and starts none. */
  close(): void {
    this.closed = true;
    for (const wake of this.waiting) wake();
    for (const socket of this.open) socket.destroy();
  }

  /** Never throws, because failures are outcomes. */
  async send(mail: Mail): Promise<MailAttempt> {
    const { mail: settings } = this.config;
    const start = performance.now();
    const attempt = settings
      ? await this.inTurn(settings, mail)
      : unanswered(mail, 'no_mail_server');
    return { ...attempt, durationMs: Math.round(performance.now() - start) };
  }

  private async inTurn(settings: MailSettings, mail: Mail): Promise<MailAttempt> {
    if (!(await this.place())) return unanswered(mail, 'timeout');
    try {
      return await this.converse(settings, mail);
    } finally {
      this.busy -= 1;
      const [next] = this.waiting;
      next?.();
    }
  }

  /**
   * A place among those that may be open. @returns false when none became free in time, or none
   * will
   */
  private async place(): Promise<boolean> {
    const until = performance.now() + WAIT_MS;
    while (!this.closed && this.busy >= MAX_OPEN) {
      if (performance.now() >= until) return false;
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this.waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, until - performance.now());
        this.waiting.add(wake);
      });
    }
    if (this.closed) return false;
    this.busy += 1;
    return true;
  }

  private async converse({ server, from }: MailSettings, mail: Mail): Promise<MailAttempt> {
    const { timeoutMs } = this.config.webhooks;
    const socket = connect({ host: server.host, port: server.port });
    this.open.add(socket);
    let late = false;
    // A server that sends a word from time to time would never be idle.
    const timer = setTimeout(
      () => {
        late = true;
        socket.destroy(new Error('out of time'));
      },
      Math.min(PATIENCE * timeoutMs, LONGEST_MS),
    );
    try {
      await connected(socket);
      const transport = createTransport({
        host: server.host,
        port: server.port,
        ...securityOf(server),
        auth: server.user === undefined ? undefined : { user: server.user, pass: server.password },
        getSocket: (_, callback) => callback(null, { connection: socket }),
      });
      return shown(server, taken(mail, await transport.sendMail(messageOf(mail, from))));
    } catch (error) {
      if (late) return unanswered(mail, 'timeout');
      return shown(server, refusedBy(mail, error as SmtpError));
    } finally {
      clearTimeout(timer);
      this.open.delete(socket);
      socket.destroy();
    }
  }
}

type MailSettings = NonNullable<Config['mail']>;

function securityOf({ tls }: MailServer) {
  return { secure: tls === 'implicit', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' };
}

/**
 * A mail server can repeat what it refuses. Readers of the answers must not see the operator's
 * password.
 */
function shown({ user, password = '' }: MailServer, attempt: MailAttempt): MailAttempt {
  if (attempt.answer === undefined) return attempt;
  const secrets = password === '' ? [] : [password, `\0${user}\0${password}`];
  return { ...attempt, answer: SecretValues.ofTexts(secrets).redact(attempt.answer) };
}

function messageOf({ to, subject, text, id }: Mail, from: string) {
  const domain = /@([^>@]+)>?$/.exec(from)?.[1] ?? 'drover.invalid';
  return {
    from,
    to,
    subject,
    text,
    messageId: `<${id}@${domain}>`,
    // Prevents automatic replies.
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket
      .once('connect', resolve)
      .once('error', reject)
      .once('close', () => {
        reject(new Error('closed'));
      });
  });
}

function taken(mail: Mail, answers: Answers): MailAttempt {
  const left = leftOf(answers);
  const [deferred] = left;
  const outcome: Outcome = deferred
    ? { kind: 'failed', status: deferred.status }
    : { kind: 'delivered', status: codeOf(answers.response) ?? 250 };
  return {
    outcome,
    answer: answerOf(answers),
    durationMs: 0,
    left: left.map((each) => each.address),
  };
}

/**
 * Nobody received it. A permanent refusal is final for recipients and text, but not for errors that
 * the operator can correct.
 */
function refusedBy(mail: Mail, error: SmtpError): MailAttempt {
  const answer = answerOf(error);
  const status = error.code === 'ETLS' ? undefined : error.responseCode;
  if (status === undefined) {
    const sort = sendErrorOf({ code: error.originalCode ?? error.code });
    return { ...unanswered(mail, sort), ...(answer === '' ? {} : { answer }) };
  }
  const ofRecipients = error.rejectedErrors ?? [];
  const left = leftOf(error);
  if (ofRecipients.length > 0 && left.length > 0) {
    const outcome: Outcome = { kind: 'failed', status: left[0]?.status ?? status };
    return { outcome, answer, durationMs: 0, left: left.map((each) => each.address) };
  }
  const isFinal = status >= 500 && (ofRecipients.length > 0 || error.code === 'EMESSAGE');
  const outcome: Outcome = { kind: isFinal ? 'refused' : 'failed', status };
  return { outcome, answer, durationMs: 0, left: isFinal ? [] : mail.to };
}

function leftOf({ rejectedErrors = [] }: Answers): { address: string; status: number }[] {
  return rejectedErrors.flatMap(({ recipient = '', responseCode: status = 0 }) =>
    status > 0 && status < 500 ? [{ address: recipient, status }] : [],
  );
}

function answerOf({ response = '', rejectedErrors = [] }: Answers): string {
  const lines = rejectedErrors.map((each) => `${each.recipient}: ${each.response}`);
  const all = [...new Set([response, ...lines])].filter((line) => line !== '');
  return all.join('\n').replaceAll('\0', '').slice(0, 4_096).toWellFormed();
}

function codeOf(response: string | undefined): number | undefined {
  const code = Number(response?.slice(0, 3));
  return Number.isInteger(code) && code > 0 ? code : undefined;
}

function unanswered(
  mail: Mail,
  error: Extract<Outcome, { kind: 'unanswered' }>['error'],
): MailAttempt {
  return { outcome: { kind: 'unanswered', error }, durationMs: 0, left: mail.to };
}
