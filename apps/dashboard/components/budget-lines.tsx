import { type components, parseTokens, TOKENS_FORM, TOKENS_PATTERN } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { stripControls, formatCount } from '../domain/format.js';
import { toLabel } from './badge.js';
import { Ago, Meter } from './parts.js';

export type Budget = components['schemas']['Budget'];

/** Properties of a field for a number of tokens. Browsers show the title for other texts. */
export const TOKENS_INPUT = { pattern: TOKENS_PATTERN, title: `Enter ${TOKENS_FORM}` };

/** The tokens of such a field as digits. */
export function readTokens(form: FormData, name: string): string {
  const text = String(form.get(name));
  return parseTokens(text) ?? text;
}

interface BudgetLinesProps {
  budgets: Budget[];
  /** Each line says when its budget is exhausted at the present rate. */
  hasForecast?: boolean;
}

/** Shows the usage of each budget. */
export function BudgetLines({ budgets, hasForecast = false }: BudgetLinesProps) {
  return (
    <ul className="stack">
      {budgets.map((budget) => (
        <li key={budget.id}>
          <p className="budget-line">
            <bdi>{budgetName(budget)}</bdi>
            <span className="muted">
              {formatCount(budget.consumed)} of {formatCount(budget.allocated)},{' '}
              {budget.recurrence ? 'renews' : 'ends'} <Ago at={budget.periodEnd} />
            </span>
          </p>
          <Meter warns percent={budget.percentUsed} label={`Usage of ${budgetName(budget)}`} />
          {hasForecast && <Forecast id={budget.id} />}
        </li>
      ))}
    </ul>
  );
}

function Forecast({ id }: { id: string }) {
  const projection = useRead(['budgets', id, 'projection'], (api, signal) =>
    api.get('/api/v1/budgets/{id}/projection', { params: { path: { id } }, signal }),
  );
  if (projection.data === undefined) return null;
  const { dailyBurnRate, projectedExhaustionDate, willLastPeriod } = projection.data;
  return (
    <p className="muted">
      {formatCount(dailyBurnRate)} tokens a day.{' '}
      {willLastPeriod || projectedExhaustionDate === null ? (
        'It lasts until its period ends.'
      ) : (
        <>
          At this rate it is exhausted <Ago at={projectedExhaustionDate} />.
        </>
      )}
    </p>
  );
}

/** The effect of an exhausted budget on running tasks. */
export const POLICIES: Record<Budget['policy'], string> = {
  pause: 'Pause running tasks',
  finish: 'Let running tasks finish',
  abort: 'Cancel running tasks',
};

export function budgetName({ scope, scopeName, scopeId }: Budget): string {
  return scope === 'global'
    ? 'Whole workspace'
    : `${toLabel(scope)} ${stripControls(scopeName ?? scopeId)}`;
}

/** The limit of the scope after the present period. */
export function describeNext({ recurrence }: Budget): string {
  if (recurrence === null) return 'No limit, unless another budget follows';
  const { every, timeZone, allocated } = recurrence;
  return `${formatCount(allocated)} tokens every ${every} (${timeZone})`;
}
