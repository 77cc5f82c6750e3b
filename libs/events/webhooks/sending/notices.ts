import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { wants } from '#lib/journal';
import { type Notice, noticeBody, noticeOf } from '../domain/notice.js';
import type { NoticeKind, NoticeSettings } from '../domain/kinds.js';
import { quietUntil } from '../domain/quiet-hours.js';
import { headlineOf, type NoticeEvent } from '../domain/words.js';
import { type DueDelivery, type Leased, readNames } from '../store/sending.sql.js';
import { messageId } from '../hooks/webhook-view.js';
import { MailClient } from './mail-client.js';
import { Recipients } from './recipients.js';
import type { Held, Made } from './turn.js';
import { UNREADABLE, WebhookClient } from './webhook-client.js';

/**
 * Maximum number of groups of recipients in one turn: all of them, and those who lack messages that
 * others have.
 */
const MAX_GROUPS = 3;

/** A webhook for people. */
export interface NoticeLease extends Leased {
  kind: NoticeKind;
  notice: NoticeSettings;
}

/** The result of a turn before it is judged. */
export interface Sent {
  made: Made[];
  /** Messages that wait for the end of quiet hours. */
  held?: Held;
}

export function isNotice(leased: Leased): leased is NoticeLease {
  return leased.kind !== 'signed' && leased.notice !== null;
}

/** Messages for people. Due messages are joined into one. */
@Injectable()
export class Notices {
  constructor(
    private readonly database: Database,
    private readonly client: WebhookClient,
    private readonly mail: MailClient,
    private readonly recipients: Recipients,
  ) {}

  /**
   * @param url the whole URL; undefined if there is none, or it cannot be decrypted
   */
  async send(leased: NoticeLease, url: string | undefined): Promise<Sent> {
    const { go, held } = byQuietHours(leased);
    if (go.length === 0) return { made: [], held };
    const made =
      leased.kind === 'email'
        ? await this.mailAll(leased, go)
        : await this.post(leased, leased.kind, go, url);
    return { made, held };
  }

  private async post(
    leased: NoticeLease,
    kind: 'slack' | 'discord',
    go: DueDelivery[],
    url: string | undefined,
  ): Promise<Made[]> {
    const body = noticeBody(kind, await this.noticeOf(leased, go));
    const startedAt = new Date();
    const headers = { 'content-type': 'application/json' };
    const attempt =
      url === undefined ? UNREADABLE : await this.client.send({ kind, url, headers, body });
    return go.map((delivery) => ({ ...attempt, delivery, startedAt }));
  }

  private async mailAll(leased: NoticeLease, go: readonly DueDelivery[]): Promise<Made[]> {
    const { workspace_id, recipients } = leased;
    const members = await this.recipients.among(workspace_id, recipients);
    const groups = new Map<string, DueDelivery[]>();
    for (const each of go) {
      const key = each.left_to.toSorted().join();
      groups.set(key, [...(groups.get(key) ?? []), each]);
    }
    // A group that starts after the payloads that were read waits for the next turn.
    const some = [...groups.values()].filter(([first]) => first?.payload !== null);
    const made = await Promise.all(
      some.slice(0, MAX_GROUPS).map((group) => this.mailOne(leased, group, members)),
    );
    return made.flat();
  }

  private async mailOne(
    leased: NoticeLease,
    group: DueDelivery[],
    members: ReadonlyMap<string, string>,
  ): Promise<Made[]> {
    const startedAt = new Date();
    const [first] = group as [DueDelivery];
    const all = [...members.keys()];
    const waiting = all.filter((id) => first.left_to.includes(id));
    // Waiting addresses may no longer be recipients. Then the message is for all, and some get it
    // twice.
    const ids = waiting.length > 0 ? waiting : all;
    if (ids.length === 0) return group.map((delivery) => ({ ...NOBODY, delivery, startedAt }));
    const to = ids.map((id) => members.get(id) as string);
    const notice = await this.noticeOf(leased, group);
    const id = mailId(leased.id, group);
    const { left, ...attempt } = await this.mail.send({ to, ...notice, id });
    const left_to = leftTo(ids, left, { members, all });
    const url = `mailto:${to.join(',')}`;
    return group.map((delivery) => ({ ...attempt, delivery, startedAt, url, left_to }));
  }

  private async noticeOf(
    { workspace_id, kind, notice }: NoticeLease,
    deliveries: readonly DueDelivery[],
  ): Promise<Notice> {
    const bodies = deliveries.slice(0, notice.digestMax).flatMap(({ payload }) => {
      return payload === null ? [] : [JSON.parse(payload) as NoticeEvent['body']];
    });
    const names = await this.namesIn(workspace_id, bodies);
    const events = bodies.map((body) => ({
      body,
      taskTitle: names.get(String(body['taskId'])),
      agentName: names.get(String(body['agentId'])),
    }));
    const counts = new Map<string, number>();
    for (const { event, status } of deliveries) {
      const headline = headlineOf(event, status);
      counts.set(headline, (counts.get(headline) ?? 0) + 1);
    }
    return noticeOf(kind, { events, counts, template: notice.template });
  }

  private async namesIn(
    workspaceId: string,
    bodies: readonly NoticeEvent['body'][],
  ): Promise<Map<string, string>> {
    const idsOf = (field: string) =>
      bodies.map((body) => body[field]).filter((id) => typeof id === 'string');
    const params = [workspaceId, idsOf('taskId'), idsOf('agentId')];
    const rows = await this.database.service.rows(readNames, params);
    return new Map(rows.map(({ id, name }) => [id, name]));
  }
}

/** Another set of events is another mail. Systems that drop repetitions recognise them by this. */
function mailId(webhookId: string, group: readonly DueDelivery[]): string {
  const [first, last] = [group[0], group.at(-1)] as [DueDelivery, DueDelivery];
  const id = messageId(webhookId, first.event_id);
  return first === last ? id : `${id}-${last.event_id}`;
}

/**
 * Recipients without a message that others have. Empty if nobody has it: then it goes to the
 * recipients of that time.
 */
function leftTo(
  ids: readonly string[],
  left: readonly string[],
  { members, all }: { members: ReadonlyMap<string, string>; all: readonly string[] },
): string[] {
  const waiting = ids.filter((id) => left.includes(members.get(id) as string));
  return waiting.length === all.length ? [] : waiting;
}

const NOBODY = {
  outcome: { kind: 'unanswered', error: 'no_recipient' },
  durationMs: 0,
} as const;

/** A test event ignores quiet hours, because somebody waits for it. */
function byQuietHours({ workspace_id, id, notice, now_ms, deliveries }: NoticeLease): {
  go: DueDelivery[];
  held?: Held;
} {
  const quiet = notice.quietHours;
  const until_ms = quiet ? quietUntil(quiet, now_ms) : undefined;
  if (until_ms === undefined) return { go: deliveries };
  const excepted = ['webhook.test', ...(quiet?.exceptTypes ?? [])];
  const urgent = deliveries.filter(({ event }) => wants(excepted, event));
  const isUrgent = new Set(urgent);
  const held = deliveries.filter((each) => !isUrgent.has(each));
  const event_ids = held.map(({ event_id }) => event_id);
  // Deliveries after the payloads that were read move to the front when the others are held.
  const go = urgent.filter(({ payload }) => payload !== null);
  return { go, held: { workspace_id, webhook_id: id, until_ms, event_ids } };
}
