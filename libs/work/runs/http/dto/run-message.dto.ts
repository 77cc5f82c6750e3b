import { ApiProperty } from '@nestjs/swagger';
import { IntList, JsonObject, OneOf, Text } from '#lib/http';
import {
  ShownId,
  ShownIdOrNull,
  ShownInt,
  ShownJson,
  ShownOneOf,
  ShownText,
  ShownTextOrNull,
  ShownTime,
  ShownTimeOrNull,
} from '#lib/task-manager';
import {
  DELIVERIES,
  type Delivery,
  MAX_MESSAGE,
  MESSAGE_STATES,
  MESSAGE_TYPE,
  type MessageRequest,
  type MessageState,
  type RunMessageView,
} from '../../domain/run-message.js';

const DELIVER =
  'When the agent hears the message: after its current turn (turn_end), or at once, instead of ' +
  'the rest of its turn (interrupt)';

export class SendRunMessageDto implements MessageRequest {
  @Text({
    max: 50,
    pattern: { regexp: MESSAGE_TYPE, words: 'be lower-case words of letters, digits, ., _ and -' },
    optional: true,
    example: 'message',
    description: 'The type; `message` by default. The agent sees any other type before the text.',
  })
  type?: string;

  @Text({
    min: 0,
    max: MAX_MESSAGE,
    example: 'Use the ISO week, too.',
    description:
      'The text. It can be empty if `data.attachments` names files by their UUID. Secrets in it ' +
      'are redacted, also for the agent.',
  })
  text!: string;

  @JsonObject({
    optional: true,
    description: 'Data for the agent, up to 16,000 characters as JSON. Secrets are redacted.',
  })
  data?: Record<string, unknown>;

  @OneOf(DELIVERIES, { description: DELIVER }) deliver!: Delivery;
}

export class DeliveredMessagesDto {
  @IntList(1, 1_000_000, {
    minItems: 1,
    maxItems: 1_000,
    description: 'The positions of messages that the program of the run has received',
  })
  positions!: number[];
}

export class DeliveryOutcomeDto {
  @ShownInt({ description: 'The number of messages that were not delivered before' })
  delivered!: number;
}

export class RunMessageDto implements RunMessageView {
  @ShownId() id!: string;
  @ShownId() runId!: string;
  @ShownInt({ description: 'The order within the run, from 1' }) position!: number;
  @ShownText({
    example: 'message',
    description: 'The type. An `answer` with a questionId answers a question of the run.',
  })
  type!: string;
  @ShownText({ description: 'The text with its secrets redacted' }) text!: string;
  @ShownJson() data!: unknown;
  @ShownOneOf(DELIVERIES, { description: DELIVER }) deliver!: Delivery;
  @ShownIdOrNull({ description: 'The question that it answers' }) questionId!: string | null;
  @ShownText({ example: 'user:0198c5a0-4444-7000-8000-000000000001' }) sender!: string;
  @ShownOneOf(MESSAGE_STATES, {
    description: 'The state. `undelivered`: the run ended before the agent could receive it.',
  })
  state!: MessageState;
  @ShownTime() sentAt!: string;
  @ShownTimeOrNull({ description: "The time when the agent's program received it" })
  deliveredAt!: string | null;
}

export class RunMessagePageDto {
  @ApiProperty({ type: [RunMessageDto] }) items!: RunMessageDto[];
  @ShownTextOrNull() nextCursor!: string | null;
}
