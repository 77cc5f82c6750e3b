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
  /** Fetches the pictures that a message names by an id. It never rejects. */
  pictures: (id: unknown) => Promise<readonly AgentImage[]>;
}

/** The conversation of people with an agent: messages, and questions for permissions. */
export class AgentTalk {
  readonly messages = new HeardMessages();
  /** Messages that the program has not received yet, by their ids. */
  private readonly unheard = new Map<string, RunMessage>();
  /** The messages that wait for pictures, of their own or of one before. */
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

  hear(message: RunMessage, session: Pick<AgentSession, 'say'>): void {
    const { id, questionId, text } = message;
    if (questionId === null) {
      this.unheard.set(id, message);
      return this.say(message, session);
    }
    this.parts.permissions.answer(questionId, text);
    this.delivered([message.position]);
  }

  /** Says the unheard messages to a session that has replaced another one. */
  sayAgain(session: Pick<AgentSession, 'say'>): void {
    for (const message of this.unheard.values()) this.say(message, session);
  }

  /** Messages keep their order, also if one waits for its pictures. */
  private say(message: RunMessage, session: Pick<AgentSession, 'say'>): void {
    const { id, deliver, type, text } = message;
    const { attachments, ...data } = (message.data ?? {}) as Record<string, unknown>;
    const words = composeMessage({ type, text, data });
    if (attachments === undefined && this.waiting === 0) return session.say(words, deliver, id);
    this.waiting += 1;
    this.said = this.said.then(async () => {
      const images = attachments === undefined ? [] : await this.parts.pictures(attachments);
      this.waiting -= 1;
      session.say(words, deliver, id, images);
    });
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
