import type { components } from '#lib/api-client';
import { plainOf, shortCount } from '../domain/format.js';
import { wordOf } from './badge.js';
import { Ago, Meter } from './parts.js';

export type Budget = components['schemas']['Budget'];

/** What is used of each budget. */
export function BudgetLines({ budgets }: { budgets: Budget[] }) {
  return (
    <ul className="stack">
      {budgets.map((budget) => (
        <li key={budget.id}>
          <p className="budget-line">
            <bdi>{budgetName(budget)}</bdi>
            <span className="muted">
              {shortCount(budget.consumed)} of {shortCount(budget.allocated)}, ends{' '}
              <Ago at={budget.periodEnd} />
            </span>
          </p>
          <Meter warns percent={budget.percentUsed} label={`Used of ${budgetName(budget)}`} />
        </li>
      ))}
    </ul>
  );
}

export function budgetName({ scope, scopeName, scopeId }: Budget): string {
  return scope === 'global'
    ? 'Whole workspace'
    : `${wordOf(scope)} ${plainOf(scopeName ?? scopeId)}`;
}
