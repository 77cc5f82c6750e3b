import { ApiProperty } from '@nestjs/swagger';
import {
  type Collection,
  Flag,
  Id,
  type Names,
  Nested,
  OneOf,
  PageQuery,
  Timestamp,
  TimeZone,
  TokenCount,
} from '#lib/http';
import type { BudgetView, RecurrenceView } from '../allocation/budget-view.js';
import type { BudgetChange, BudgetRequest, Reallocation } from '../allocation/budgets.js';
import {
  BUDGET_POLICIES,
  BUDGET_SCOPES,
  type BudgetPolicy,
  type BudgetScope,
  type Every,
  EVERY,
  type Recurrence,
} from '../domain/budget.js';

const id = { type: String, format: 'uuid' };
const time = { type: String, format: 'date-time' };
const tokens = { type: String, example: '1000000' };
const POLICY =
  'The action on running tasks when the budget is used up: pause (default), finish or abort';

const START =
  'The begin of the period. The periods of a recurring budget begin at this time of the day, ' +
  'weekday or day of the month. Without it, they begin at midnight, on Mondays, or on the first.';
const END = 'The end of the period, which is not part of it. It must be left out with recurrence.';

const SCOPED: Readonly<Record<BudgetScope, readonly Collection[]>> = {
  global: [],
  project: ['projects'],
  milestone: ['milestones'],
  task: ['agent-tasks'],
};

/** A filter without a scope names a thing of any of them. */
const scopeOf: Names = ({ scope }: { scope?: BudgetScope }) =>
  scope === undefined ? Object.values(SCOPED).flat() : SCOPED[scope];

export class RecurrenceRequestDto implements Recurrence {
  @OneOf(EVERY, { description: 'The length of the periods' })
  every!: Every;

  @TimeZone({
    optional: true,
    description: 'The IANA name of the time zone whose clock the periods follow; UTC by default',
  })
  timeZone?: string;
}

export class CreateBudgetDto implements BudgetRequest {
  @OneOf(BUDGET_SCOPES)
  scope!: BudgetScope;

  @Id(scopeOf, {
    optional: true,
    description: 'The project, milestone or task. It can be left out with the scope global.',
  })
  scopeId?: string;

  @TokenCount({ description: 'The tokens that the scope can use in the period' })
  allocated!: string;

  @Timestamp({ optional: true, description: START })
  periodStart?: string;

  @Timestamp({ optional: true, description: END })
  periodEnd?: string;

  @Nested(() => RecurrenceRequestDto, {
    optional: true,
    description: 'The repetition of the period. Without it, the budget ends with its period.',
  })
  recurrence?: RecurrenceRequestDto;

  @OneOf(BUDGET_POLICIES, { optional: true, description: POLICY })
  policy?: BudgetPolicy;
}

export class ChangeBudgetDto implements BudgetChange {
  @TokenCount({ optional: true, description: 'The tokens of this period, and of later ones' })
  allocated?: string;

  @Timestamp({ optional: true, description: START })
  periodStart?: string;

  @Timestamp({ optional: true, description: END })
  periodEnd?: string;

  @Nested(() => RecurrenceRequestDto, {
    optional: true,
    nullable: true,
    description: 'The repetition of the period. With null the budget ends with its period.',
  })
  recurrence?: RecurrenceRequestDto | null;

  @OneOf(BUDGET_POLICIES, { optional: true })
  policy?: BudgetPolicy;
}

export class ReallocateBudgetDto {
  @Id('budgets', { description: 'The budget that receives the tokens' })
  to!: string;

  @TokenCount({ min: 1n })
  amount!: string;
}

export class ListBudgetsQuery extends PageQuery {
  @OneOf(BUDGET_SCOPES, { optional: true })
  scope?: BudgetScope;

  @Id(scopeOf, { optional: true })
  scopeId?: string;

  @Flag({ optional: true, description: 'Only budgets whose period includes the present' })
  active?: boolean;
}

export class RecurrenceDto implements RecurrenceView {
  @ApiProperty({ enum: EVERY }) every!: Every;
  @ApiProperty({ example: 'Europe/Berlin' }) timeZone!: string;
  @ApiProperty({
    ...tokens,
    description: 'The tokens of each later period. A reallocation does not change them.',
  })
  allocated!: string;
}

export class BudgetDto implements BudgetView {
  @ApiProperty(id) id!: string;
  @ApiProperty({ enum: BUDGET_SCOPES }) scope!: BudgetScope;
  @ApiProperty({
    ...id,
    description: 'The id of the scope. With the scope global it is the workspace.',
  })
  scopeId!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'Invoices',
    description:
      'The name of the project or milestone, or the title of the task. It is null with the ' +
      'scope global.',
  })
  scopeName!: string | null;

  @ApiProperty(tokens) allocated!: string;
  @ApiProperty({ ...tokens, description: 'Tokens that live runs hold' }) reserved!: string;
  @ApiProperty({ ...tokens, description: 'Tokens used in the period' }) consumed!: string;
  @ApiProperty({
    ...tokens,
    description: 'allocated - consumed. It is negative if the scope used more.',
  })
  remaining!: string;
  @ApiProperty({ ...tokens, description: 'allocated - consumed - reserved' }) available!: string;
  @ApiProperty({
    type: 'integer',
    description: 'The consumed share of allocated in percent, rounded down',
  })
  percentUsed!: number;
  @ApiProperty(time) periodStart!: string;
  @ApiProperty(time) periodEnd!: string;
  @ApiProperty({
    type: RecurrenceDto,
    nullable: true,
    description: 'The repetition of the period, or null if the budget ends with it',
  })
  recurrence!: RecurrenceDto | null;
  @ApiProperty({ enum: BUDGET_POLICIES }) policy!: BudgetPolicy;
  @ApiProperty({ description: 'Whether the period includes the present' }) isActive!: boolean;
  @ApiProperty({ type: 'integer' }) version!: number;
  @ApiProperty(time) createdAt!: string;
  @ApiProperty(time) updatedAt!: string;
}

export class BudgetPageDto {
  @ApiProperty({ type: [BudgetDto] }) items!: BudgetDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class ReallocationDto implements Reallocation {
  @ApiProperty({ type: BudgetDto }) from!: BudgetDto;
  @ApiProperty({ type: BudgetDto }) to!: BudgetDto;
}
