import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { EVENT_FILTERS, NAME_FILTERS } from '#lib/journal';
import {
  Flag,
  Int,
  Nested,
  OneOf,
  OneOfList,
  PageQuery,
  Text,
  TextList,
  Timestamp,
} from '#lib/http';
import type { Replay } from '../deliveries/deliveries.js';
import { type Day, DAYS, type Kind, KINDS, type QuietHours } from '../domain/kinds.js';
import type { DeliveryState } from '../store/deliveries.sql.js';
import type { AttemptView, DeliveryView, WebhookView } from '../hooks/webhook-view.js';
import type { WebhookChange, WebhookRequest } from '../hooks/webhooks.js';

const STATES = ['pending', 'delivered', 'dead'] as const;

const id = { type: String, format: 'uuid' };
const time = { type: String, format: 'date-time' };
const laterTime = { ...time, nullable: true };
const text: ApiPropertyOptions = { type: String, nullable: true };

const number = { type: 'integer', nullable: true } as const;

const URL_WORDS =
  'An https:// URL of a public address with port 443 or 8443. An operator can allow other ' +
  'networks. The URL of slack and discord is a secret.';
const HUB_WORDS =
  'Whether each message also has the header `X-Hub-Signature-256` of GitHub. Its key is the ' +
  'whole text of the secret.';
const EVENTS = {
  minItems: 1,
  maxItems: 50,
  description:
    'Names of events. `task.*` or `task` is all events of tasks, `*` is all events, and ' +
    '`task.status_changed.FAILED` is a change to this status.',
};

const TIME = {
  max: 5,
  pattern: { regexp: /^(?:[01]\d|2[0-3]):[0-5]\d$/, words: 'be a time of the day, such as 22:00' },
};

export class QuietHoursDto implements QuietHours {
  @Text(TIME) from!: string;
  @Text({ ...TIME, description: 'The end. If it is not later than `from`, it is on the next day.' })
  to!: string;
  @Text({ max: 100, description: 'The IANA name of the time zone', example: 'Europe/Berlin' })
  timeZone!: string;
  @OneOfList(DAYS, {
    optional: true,
    minItems: 1,
    maxItems: 7,
    description: 'The days on which the quiet hours begin. Without any, they begin on all days.',
  })
  days?: Day[];
  @OneOfList(NAME_FILTERS, {
    optional: true,
    maxItems: 50,
    description: 'Events that the server sends during quiet hours, too',
  })
  exceptTypes?: string[];
}

const OPTIONAL = { optional: true, nullable: true };
const RECIPIENTS = {
  minItems: 1,
  maxItems: 20,
  item: { max: 254 },
  optional: true,
  description: 'For email: members of the workspace, by user id or e-mail address',
};
const TEMPLATE = {
  ...OPTIONAL,
  max: 2_000,
  description:
    'For people: text that replaces the sentence of an event. The server fills in ' +
    '`{{task.title}}` and similar.',
  example: '*{{task.title}}*: {{text}}',
};
const SECONDS = {
  optional: true,
  description:
    'For people: the seconds between two messages. The server joins the events that ' +
    'occur in between.',
};
const SHOWN = {
  optional: true,
  description: 'For people: the number of events that one message lists',
};
const QUIET = { ...OPTIONAL, description: 'For people: the hours in which messages wait' };

export class ChangeWebhookDto implements WebhookChange {
  @Text({ max: 2_000, optional: true, description: URL_WORDS }) url?: string;
  @TextList(RECIPIENTS) recipients?: string[];
  @OneOfList(EVENT_FILTERS, { ...EVENTS, optional: true }) events?: string[];
  @Text({ ...OPTIONAL, min: 0, max: 1_000 }) description?: string | null;
  @Flag({ optional: true, description: HUB_WORDS }) hubSignature?: boolean;
  @Text(TEMPLATE) template?: string | null;
  @Int(0, 3_600, SECONDS) digestSeconds?: number;
  @Int(1, 50, SHOWN) digestMax?: number;
  @Nested(() => QuietHoursDto, QUIET) quietHours?: QuietHoursDto | null;
  @Flag({
    optional: true,
    description: 'Whether the webhook is enabled. Deliveries of a disabled webhook keep waiting.',
  })
  enabled?: boolean;
}

export class CreateWebhookDto implements WebhookRequest {
  @OneOf(KINDS, {
    optional: true,
    description: '`signed` (default) is for programs. The other kinds are for people.',
  })
  kind?: Kind;
  @Text({ max: 2_000, optional: true, description: URL_WORDS }) url?: string;
  @TextList(RECIPIENTS) recipients?: string[];
  @OneOfList(EVENT_FILTERS, EVENTS) events!: string[];
  @Text({ ...OPTIONAL, min: 0, max: 1_000 }) description?: string | null;
  @Flag({ optional: true, description: HUB_WORDS }) hubSignature?: boolean;
  @Text(TEMPLATE) template?: string | null;
  @Int(0, 3_600, SECONDS) digestSeconds?: number;
  @Int(1, 50, SHOWN) digestMax?: number;
  @Nested(() => QuietHoursDto, QUIET) quietHours?: QuietHoursDto | null;
}

export class ListDeliveriesQuery extends PageQuery {
  @OneOf(STATES, { optional: true }) state?: DeliveryState;
}

const DELIVERY_ID = {
  max: 18,
  pattern: { regexp: /^[1-9]\d{0,17}$/, words: 'be the id of a delivery' },
};

export class ReplayDeliveriesDto implements Replay {
  @TextList({
    minItems: 1,
    maxItems: 1_000,
    item: DELIVERY_ID,
    optional: true,
    description: 'The ids of deliveries',
  })
  ids?: string[];

  @OneOf(STATES, {
    optional: true,
    description: 'All deliveries in this state. `dead` is all that failed.',
  })
  state?: DeliveryState;

  @Timestamp({ optional: true, description: 'Only events at this time or later' }) from?: string;
  @Timestamp({ optional: true, description: 'Only events before this time' }) to?: string;
}

export class WebhookDto implements WebhookView {
  @ApiProperty(id) id!: string;
  @ApiProperty({ enum: KINDS }) kind!: Kind;
  @ApiProperty({
    description:
      'The URL. It is cut for slack and discord, because it is a secret. For email it ' +
      'begins with mailto:.',
  })
  url!: string;
  @ApiProperty({
    type: [String],
    format: 'uuid',
    nullable: true,
    description: 'For email: the users',
  })
  recipients!: string[] | null;
  @ApiProperty({ type: [String] }) events!: string[];
  @ApiProperty(text) description!: string | null;
  @ApiProperty() hubSignature!: boolean;
  @ApiProperty() enabled!: boolean;
  @ApiProperty({
    enum: ['user', 'gone'],
    nullable: true,
    description:
      'The reason. `gone`: the receiver says that nothing is at the address. `user`: a user disabled it, ' +
      'or its creator has lost the right',
  })
  disabledReason!: 'user' | 'gone' | null;
  @ApiProperty({ type: 'integer' }) consecutiveFailures!: number;
  @ApiProperty({
    ...laterTime,
    description: 'The time until which the previous secret also signs messages',
  })
  previousSecretExpiresAt!: string | null;
  @ApiProperty(text) template!: string | null;
  @ApiProperty(number) digestSeconds!: number | null;
  @ApiProperty(number) digestMax!: number | null;
  @ApiProperty({ type: () => QuietHoursDto, nullable: true }) quietHours!: QuietHoursDto | null;
  @ApiProperty({ ...id, type: String, nullable: true }) createdBy!: string | null;
  @ApiProperty({ type: 'integer' }) version!: number;
  @ApiProperty(time) createdAt!: string;
  @ApiProperty(time) updatedAt!: string;
}

export class NewWebhookDto extends WebhookDto {
  @ApiProperty({
    ...text,
    description:
      'The signing secret. Only this answer shows it. It is null for webhooks for people.',
  })
  secret!: string | null;
}

export class WebhookPageDto {
  @ApiProperty({ type: [WebhookDto] }) items!: WebhookDto[];
  @ApiProperty(text) nextCursor!: string | null;
}

class DeliveryAttemptDto implements AttemptView {
  @ApiProperty({ type: 'integer' }) number!: number;
  @ApiProperty(time) startedAt!: string;
  @ApiProperty({ type: 'integer' }) durationMs!: number;
  @ApiProperty() url!: string;
  @ApiProperty({ type: 'integer', nullable: true }) status!: number | null;
  @ApiProperty({ ...text, description: 'The reason why there is no answer' }) error!: string | null;
  @ApiProperty({ ...text, description: 'The first 4 KiB of the answer' }) answer!: string | null;
}

export class WebhookDeliveryDto implements DeliveryView {
  @ApiProperty({ description: 'The id of the event' }) id!: string;
  @ApiProperty() event!: string;
  @ApiProperty({ enum: STATES }) state!: DeliveryState;
  @ApiProperty({ description: 'The header `webhook-id`' }) messageId!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The event as the server sends it to programs. People get a sentence instead. Null a day ' +
      'after a delivered event.',
  })
  body!: string | null;
  @ApiProperty(time) occurredAt!: string;
  @ApiProperty(time) createdAt!: string;
  @ApiProperty(laterTime) nextAttemptAt!: string | null;
  @ApiProperty({ type: [DeliveryAttemptDto], description: 'The last 20 attempts' })
  attempts!: DeliveryAttemptDto[];
}

export class WebhookDeliveryPageDto {
  @ApiProperty({ type: [WebhookDeliveryDto] }) items!: WebhookDeliveryDto[];
  @ApiProperty(text) nextCursor!: string | null;
}

export class ReplayedDeliveriesDto {
  @ApiProperty({ type: 'integer' }) replayed!: number;
}
