import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, usePages } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { POLICIES, readTokens, TOKENS_INPUT } from '../components/budget-lines.js';
import { BudgetPanel } from '../components/budget-panel.js';
import { FormDialog } from '../components/form-dialog.js';
import { Button, Empty, Field, Loaded, Page } from '../components/parts.js';
import { ProjectPicker } from '../components/pickers.js';
import { ownTimeZone } from '../domain/time-zone.js';

type Recurrence = components['schemas']['Recurrence'];

const EVERY_MS = 15_000;
const DAY_MS = 86_400_000;

export function BudgetsPage() {
  const { may } = useWorkspace();
  const pages = usePages(
    ['budgets', 'list'],
    (api, cursor, signal) =>
      api.get('/api/v1/budgets', { params: { query: { limit: 20, cursor } }, signal }),
    { every: EVERY_MS },
  );
  return (
    <Page title="Budgets" actions={may('ADMIN') && <NewBudget />}>
      <Loaded query={pages}>
        {({ pages: read }) => {
          const budgets = read.flatMap(({ items }) => items);
          if (budgets.length === 0)
            return (
              <Empty title="No budgets yet">
                <p>
                  A budget limits the tokens that a workspace, project, milestone or task can use in
                  a period. Without a budget, usage is unlimited.
                </p>
              </Empty>
            );
          return (
            <div className="columns">
              {budgets.map((budget) => (
                <BudgetPanel key={budget.id} budget={budget} others={budgets} />
              ))}
            </div>
          );
        }}
      </Loaded>
      {pages.hasNextPage && (
        <Button onClick={() => void pages.fetchNextPage()}>Show more budgets</Button>
      )}
    </Page>
  );
}

const ONCE = 'once';
const PERIODS = { [ONCE]: 'Once', day: 'Every day', week: 'Every week', month: 'Every month' };

/** The period that the form names. A recurring one follows the calendar. */
function periodOf(form: FormData) {
  const every = form.get('every') as 'once' | Recurrence['every'];
  if (every !== ONCE) {
    return { recurrence: { every, timeZone: String(form.get('timeZone')).trim() } };
  }
  const now = Date.now();
  return {
    periodStart: new Date(now).toISOString(),
    periodEnd: new Date(now + Number(form.get('days')) * DAY_MS).toISOString(),
  };
}

function NewBudget() {
  const [every, setEvery] = useState<string>('month');
  const create = useCommand(
    (api, form: FormData) => {
      const scopeId = String(form.get('scopeId')).trim();
      const body = {
        scope: scopeId === '' ? ('global' as const) : ('project' as const),
        ...(scopeId !== '' && { scopeId }),
        allocated: readTokens(form, 'allocated'),
        policy: form.get('policy') as 'pause' | 'finish' | 'abort',
        ...periodOf(form),
      };
      return api.post('/api/v1/budgets', { body });
    },
    { done: 'Budget created', changes: [['budgets'], ['overview']] },
  );
  return (
    <FormDialog
      open="Create budget"
      look="primary"
      title="Create budget"
      confirm="Create budget"
      onConfirm={create.mutate}
    >
      <Field label="Tokens">
        <input className="input" name="allocated" required {...TOKENS_INPUT} />
      </Field>
      <Field label="Period">
        <select
          className="input"
          name="every"
          value={every}
          onChange={({ target }) => setEvery(target.value)}
        >
          {Object.entries(PERIODS).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      {every === ONCE ? (
        <Field key="days" label="Days" hint="The period starts now. Then usage has no limit.">
          <input className="input" name="days" type="number" min={1} max={3650} defaultValue={30} />
        </Field>
      ) : (
        <Field
          key="zone"
          label="Time zone"
          hint="Periods begin at midnight, on Mondays, or on the first."
        >
          <input className="input" name="timeZone" required defaultValue={ownTimeZone()} />
        </Field>
      )}
      <ProjectPicker name="scopeId" empty="Whole workspace" />
      <Field label="When exhausted">
        <select className="input" name="policy" defaultValue="pause">
          {Object.entries(POLICIES).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
    </FormDialog>
  );
}
