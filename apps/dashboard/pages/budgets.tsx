import { useCommand, usePages } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { POLICIES } from '../components/budget-lines.js';
import { BudgetPanel } from '../components/budget-panel.js';
import { FormDialog } from '../components/form-dialog.js';
import { Button, Empty, Field, Loaded, Page } from '../components/parts.js';

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

function NewBudget() {
  const create = useCommand(
    (api, form: FormData) => {
      const scopeId = String(form.get('projectId')).trim();
      const now = Date.now();
      const days = Number(form.get('days'));
      const body = {
        scope: scopeId === '' ? ('global' as const) : ('project' as const),
        ...(scopeId !== '' && { scopeId }),
        allocated: String(form.get('allocated')),
        policy: form.get('policy') as 'pause' | 'finish' | 'abort',
        periodStart: new Date(now).toISOString(),
        periodEnd: new Date(now + days * DAY_MS).toISOString(),
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
        <input className="input" name="allocated" required inputMode="numeric" pattern="[0-9]+" />
      </Field>
      <Field label="Days" hint="The period starts now.">
        <input className="input" name="days" type="number" min={1} max={3650} defaultValue={30} />
      </Field>
      <Field label="Project ID" hint="Leave empty for the whole workspace.">
        <input className="input mono" name="projectId" />
      </Field>
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
