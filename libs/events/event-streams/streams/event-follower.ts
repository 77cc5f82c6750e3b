import type { Database } from '#lib/database';
import type { Follower, JournalTail, Message, Stretch } from '#lib/journal';
import { textOf } from '#lib/http';
import { Doorbell } from '#lib/kernel';
import { type EventFilter, has, type Place, placeAtEndOf } from '../domain/event-filter.js';
import { tasksOfProject } from './tasks-of-project.sql.js';
import type { OpenStream } from './streams.js';

/** Characters that are sent before the client's progress is checked. */
const CHUNK = 65_536;
/** Maximum delay after a lost ring, in milliseconds. */
const LOOK_AGAIN_MS = 60_000;

export interface Asked extends EventFilter {
  projectId?: string;
}

/**
 * Sends one client the events of its workspace from its position on: first those that it missed,
 * then new ones.
 */
export class EventFollower implements Follower {
  from: bigint;
  private sentUpTo: bigint;
  private readonly bell = new Doorbell();

  constructor(
    private readonly sources: { database: Database; tail: JournalTail },
    readonly workspaceId: string,
    private readonly asked: Asked,
    private readonly stream: OpenStream,
    place: Place,
  ) {
    this.from = place.from;
    this.sentUpTo = place.id;
    stream.place = () => this.place();
  }

  ring(): void {
    this.bell.ring();
  }

  /** Resolves when the stream has ended. */
  async run(): Promise<void> {
    const { tail } = this.sources;
    const unfollow = tail.follow(this);
    const wake = (): void => this.ring();
    this.stream.ended.addEventListener('abort', wake);
    try {
      while (!this.stream.ended.aborted) {
        const stretch = await tail.read(this);
        if (stretch === undefined) await this.bell.wait(LOOK_AGAIN_MS);
        else if (!(await this.pass(stretch))) return;
      }
    } finally {
      unfollow();
      this.stream.ended.removeEventListener('abort', wake);
    }
  }

  private place(): string {
    const { id } = placeAtEndOf(this.from);
    return `${id > this.sentUpTo ? id : this.sentUpTo}`;
  }

  /**
   * @returns whether the client has accepted it
   */
  private async pass({ messages, upTo }: Stretch): Promise<boolean> {
    const own = messages.filter(
      (message) => BigInt(message.id) > this.sentUpTo && has(this.asked, message),
    );
    let chunk = '';
    for (const message of await this.ofProject(own)) {
      chunk += wireTextOf(message);
      if (chunk.length < CHUNK) continue;
      this.stream.send(chunk);
      // A heartbeat before the rest tells the client this position.
      this.sentUpTo = BigInt(message.id);
      chunk = '';
      if (!(await this.stream.drained())) return false;
    }
    if (chunk !== '') this.stream.send(chunk);
    this.from = upTo;
    return this.stream.drained();
  }

  private async ofProject(messages: readonly Message[]): Promise<readonly Message[]> {
    const { projectId } = this.asked;
    if (projectId === undefined || messages.length === 0) return messages;
    const ids = [...new Set(messages.map(({ taskId }) => taskId).filter(Boolean))];
    const tenant = this.sources.database.tenant(this.workspaceId);
    const rows = await tenant.rows(tasksOfProject, [this.workspaceId, projectId, ids]);
    const tasks = new Set<string | null>(rows.map(({ id }) => id));
    return messages.filter(
      ({ taskId, body }) => tasks.has(taskId) || body['scopeId'] === projectId,
    );
  }
}

/** One text for all clients that receive the message. */
const texts = new WeakMap<Message, string>();

function wireTextOf(message: Message): string {
  const known = texts.get(message);
  if (known !== undefined) return known;
  const { id, body } = message;
  const text = textOf({ id, event: String(body['event']), data: { id, ...body } });
  texts.set(message, text);
  return text;
}
