import type { components } from '#lib/api-client';
import { stripControls, formatCount } from '../domain/format.js';
import { toLabel } from './badge.js';
import { Ago, Meter } from './parts.js';

export type Budget = components['schemas']['Budget'];

/** Shows the usage of each budget. */
export function BudgetLines({ budgets }: { budgets: Budget[] }) {
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
        </li>
      ))}
    </ul>
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
