import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Flag, JsonObject, NestedList, OneOf, Text } from '#lib/http';
import { DEEDS, type Deed, type HookRule } from '../domain/rules.js';
import { HOOK_KINDS, type HookKind } from '../domain/signature.js';
import type { InboundDeliveryView, InboundHookView } from '../hooks/hook-view.js';
import type { InboundHookChange, InboundHookRequest } from '../hooks/inbound-hooks.js';
import { OUTCOMES, type Outcome } from '../store/deliveries.sql.js';

const id = { type: String, format: 'uuid' };
const time = { type: String, format: 'date-time' };
const text: ApiPropertyOptions = { type: String, nullable: true };

const WORDS = {
  on:
    'The event: issues.labeled, issue_comment.created, Note Hook, or the `type` of a generic event. ' +
    'The part before a dot matches all events of that name.',
  when:
    'Conditions by dotted paths of the payload: a value or a list of values. All must match. ' +
    '`*` in a path is any item of a list.',
  task:
    'For create_task: the body of POST /agent-tasks, without secrets. Its texts can contain ' +
    '{{path}} of the payload.',
  once: 'For create_task: whether a subject gets only one task; true by default.',
  subject: 'The subject, instead of the issue or merge request. It can contain {{path}}.',
  text: 'For resume_task: the message of the resumption, instead of the comment. It can contain {{path}}.',
};

export class HookRuleDto implements HookRule {
  @Text({ max: 200, description: WORDS.on, example: 'issues.labeled' }) on!: string;
  @JsonObject({ optional: true, description: WORDS.when, example: { 'label.name': 'drover' } })
  when?: NonNullable<HookRule['when']>;
  @OneOf(DEEDS) do!: Deed;
  @JsonObject({
    optional: true,
    description: WORDS.task,
    example: { title: '{{issue.title}}', taskType: 'issue' },
  })
  task?: Record<string, unknown>;
  @Flag({ optional: true, description: WORDS.once }) once?: boolean;
  @Text({ max: 500, optional: true, description: WORDS.subject }) subject?: string;
  @Text({ max: 1_000, optional: true, description: WORDS.text }) text?: string;
}

const RULES = {
  minItems: 1,
  maxItems: 50,
  description: 'The rules. The first rule that matches decides.',
};

export class CreateInboundHookDto implements InboundHookRequest {
  @OneOf(HOOK_KINDS, {
    description: 'The sender and its signature. `generic` is Standard Webhooks.',
  })
  kind!: HookKind;
  @NestedList(() => HookRuleDto, RULES) rules!: HookRuleDto[];
  @Text({ min: 0, max: 1_000, optional: true, nullable: true }) description?: string | null;
}

export class ChangeInboundHookDto implements InboundHookChange {
  @NestedList(() => HookRuleDto, { ...RULES, optional: true }) rules?: HookRuleDto[];
  @Text({ min: 0, max: 1_000, optional: true, nullable: true }) description?: string | null;
  @Flag({
    optional: true,
    description: 'Whether the hook accepts events. A disabled hook refuses them with 409.',
  })
  enabled?: boolean;
}

export class InboundHookDto implements InboundHookView {
  @ApiProperty(id) id!: string;
  @ApiProperty({
    description: 'The path to which the sender posts events, below the address of the server',
  })
  path!: string;
  @ApiProperty({ enum: HOOK_KINDS }) kind!: HookKind;
  @ApiProperty(text) description!: string | null;
  @ApiProperty({ type: [HookRuleDto] }) rules!: HookRuleDto[];
  @ApiProperty() enabled!: boolean;
  @ApiProperty({
    ...time,
    nullable: true,
    description: 'The time until which the previous secret stays valid',
  })
  previousSecretExpiresAt!: string | null;
  @ApiProperty(id) createdBy!: string;
  @ApiProperty({ type: 'integer' }) version!: number;
  @ApiProperty(time) createdAt!: string;
  @ApiProperty(time) updatedAt!: string;
}

export class NewInboundHookDto extends InboundHookDto {
  @ApiProperty({
    description: 'The secret with which the sender signs. Only this answer shows it.',
  })
  secret!: string;
}

export class InboundHookPageDto {
  @ApiProperty({ type: [InboundHookDto] }) items!: InboundHookDto[];
  @ApiProperty(text) nextCursor!: string | null;
}

const OUTCOME_WORDS =
  'The outcome. `known`: the subject has a task already. `ignored`: `reason` says why. ' +
  '`refused`: the rule could not create a task.';

export class InboundHookDeliveryDto implements InboundDeliveryView {
  @ApiProperty(id) id!: string;
  @ApiProperty({ description: 'The id that the sender gave the delivery' }) deliveryId!: string;
  @ApiProperty() event!: string;
  @ApiProperty({ ...text, example: 'github:owner/repo#12' }) subject!: string | null;
  @ApiProperty({ enum: OUTCOMES, description: OUTCOME_WORDS }) outcome!: Outcome;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'The index of the rule that matched, from 0',
  })
  rule!: number | null;
  @ApiProperty({ ...id, nullable: true }) taskId!: string | null;
  @ApiProperty({
    ...text,
    description:
      'The reason: no_rule, no_task, not_paused (also of a task that waits for an answer or a review) ' +
      'or the code of an error',
  })
  reason!: string | null;
  @ApiProperty(text) detail!: string | null;
  @ApiProperty({ description: 'The SHA-256 hash of the body' }) digest!: string;
  @ApiProperty(time) receivedAt!: string;
}

export class InboundHookDeliveryPageDto {
  @ApiProperty({ type: [InboundHookDeliveryDto] }) items!: InboundHookDeliveryDto[];
  @ApiProperty(text) nextCursor!: string | null;
}
