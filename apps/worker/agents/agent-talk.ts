import type { AgentEvent, AgentImage } from '#lib/agent-kinds';
import { type AgentSession, composeMessage } from '#lib/agent-sessions';
import type { RunMessage } from '../api/types.js';
import type { JobReports } from '../execution/job.js';
import type { AgentLog } from './agent-log.js';
import { HeardMessages } from './heard-messages.js';
import type { RunPermissions } from './run-permissions.js';

export interface TalkParts {
  lines: AgentLog;
  permissions: RunPermissions;
  report: Pick<JobReports, 'delivered'>;
  /** Adds the files that a message names by an id to the session. It never rejects. */
  attach: (
    id: unknown,
    session: HearingSession,
  ) => Promise<{ list: string; images: readonly AgentImage[] }>;
}

/** The words of a message of files alone whose files cannot be read. A turn needs words. */
const NO_FILES = 'A person attached files, but they cannot be read.';

type HearingSession = Pick<AgentSession, 'say' | 'addFiles'>;

/** The conversation of people with an agent: messages, and questions for permissions. */
export class AgentTalk {
  readonly messages = new HeardMessages();
  /** Messages that the program has not received yet, by their ids. */
  private readonly unheard = new Map<string, RunMessage>();
  /** The messages that wait for files, of their own or of one before. */
  private waiting = 0;
  private said = Promise.resolve();

  constructor(private readonly parts: TalkParts) {}

  readonly onEvent = (event: AgentEvent): void => {
    const { lines, permissions } = this.parts;
    lines.add(event);
    if (event.type === 'permission') permissions.request(event);
    else if (event.type === 'permission_closed') permissions.close(event.id);
    else if (event.type === 'heard') this.heard(event.ids);
  };

  hear(message: RunMessage, session: HearingSession): void {
    const { id, questionId } = message;
    if (questionId === null) {
      this.unheard.set(id, message);
      return this.say(message, session);
    }
    this.parts.permissions.answer(questionId, message);
    this.delivered([message.position]);
  }

  /** Says the unheard messages to a session that has replaced another one. */
  sayAgain(session: HearingSession): void {
    for (const message of this.unheard.values()) this.say(message, session);
  }

  /** Messages keep their order, also if one waits for its files. */
  private say(message: RunMessage, session: HearingSession): void {
    const { id, deliver, type, text } = message;
    const { attachments, ...data } = (message.data ?? {}) as Record<string, unknown>;
    const words = composeMessage({ type, text, data });
    if (attachments === undefined && this.waiting === 0) return session.say(words, deliver, id);
    this.waiting += 1;
    this.said = this.said.then(async () => {
      const { list, images } = await this.attached(attachments, session);
      this.waiting -= 1;
      const files = list === '' ? '' : `Attached files:\n\n${list}`;
      const told = [words, files].filter((part) => part !== '').join('\n\n') || NO_FILES;
      session.say(told, deliver, id, images);
    });
  }

  private async attached(id: unknown, session: HearingSession) {
    return id === undefined ? { list: '', images: [] } : this.parts.attach(id, session);
  }

  private heard(ids: readonly string[]): void {
    const messages = ids.flatMap((id) => this.unheard.get(id) ?? []);
    for (const { id } of messages) this.unheard.delete(id);
    this.delivered(messages.map(({ position }) => position));
  }

  private delivered(positions: readonly number[]): void {
    this.messages.heard(positions);
    this.parts.report.delivered(positions);
  }
}
