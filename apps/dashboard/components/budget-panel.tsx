import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { formatCount } from '../domain/format.js';
import { Badge } from './badge.js';
import {
  type Budget,
  budgetName,
  describeNext,
  POLICIES,
  readTokens,
  TOKENS_INPUT,
} from './budget-lines.js';
import { FormDialog, ifMatch } from './form-dialog.js';
import { Ago, Facts, Field, Loaded, Meter, Panel } from './parts.js';

type Alert = components['schemas']['BudgetAlert'];
type Projection = components['schemas']['Projection'];

const EVERY_MS = 30_000;
const ALERTS = 5;
const CHANGES = [['budgets'], ['overview']];

/** One budget: its usage, its forecast, its alerts and its actions. */
export function BudgetPanel({ budget, others }: { budget: Budget; others: Budget[] }) {
  const { may } = useWorkspace();
  const { id, percentUsed, allocated, consumed, reserved, available } = budget;
  return (
    <Panel
      title={budgetName(budget)}
      end={may('ADMIN') && <Actions budget={budget} others={others} />}
    >
      <div className="stack">
        <div>
          <p className="budget-line">
            <span>{percentUsed}% used</span>
            <span className="muted">
              {formatCount(consumed)} of {formatCount(allocated)} tokens
            </span>
          </p>
          <Meter warns percent={percentUsed} label={`Usage of ${budgetName(budget)}`} />
        </div>
        <Facts
          items={[
            ['Held by runs', formatCount(reserved)],
            ['Available', formatCount(available)],
            ['Period ends', <Ago at={budget.periodEnd} />],
            ['Then', describeNext(budget)],
            ['When exhausted', POLICIES[budget.policy]],
            ['Active', budget.isActive ? 'Yes' : 'No'],
          ]}
        />
        {budget.isActive && <Forecast id={id} />}
        <Alerts id={id} />
      </div>
    </Panel>
  );
}

function Forecast({ id }: { id: string }) {
  const projection = useRead(
    ['budgets', id, 'projection'],
    (api, signal) =>
      api.get('/api/v1/budgets/{id}/projection', { params: { path: { id } }, signal }),
    { every: EVERY_MS },
  );
  return <Loaded query={projection}>{(data) => <ForecastFacts projection={data} />}</Loaded>;
}

/** The latest alerts. A raised budget can reach the same threshold again. */
function Alerts({ id }: { id: string }) {
  const alerts = useRead(
    ['budgets', id, 'alerts'],
    (api, signal) =>
      api.get('/api/v1/budgets/{id}/alerts', {
        params: { path: { id }, query: { limit: ALERTS } },
        signal,
      }),
    { every: EVERY_MS },
  );
  return (
    <Loaded query={alerts}>
      {({ items }) => (
        <Facts items={[['Alerts', items.length > 0 ? <AlertList alerts={items} /> : 'None yet']]} />
      )}
    </Loaded>
  );
}

function AlertList({ alerts }: { alerts: Alert[] }) {
  return (
    <ul>
      {alerts.map(({ at, threshold, consumed, allocated }) => (
        <li key={`${at} ${threshold}`}>
          {threshold}% <Ago at={at} />{' '}
          <span className="muted">
            ({formatCount(consumed)} of {formatCount(allocated)})
          </span>
        </li>
      ))}
    </ul>
  );
}

function ForecastFacts({ projection }: { projection: Projection }) {
  const { dailyBurnRate, daysUntilExhaustion, recommendation, throttle } = projection;
  return (
    <Facts
      items={[
        ['Forecast', <Badge state={recommendation} />],
        ['Burn rate', `${formatCount(dailyBurnRate)} tokens a day`],
        [
          'Exhausted in',
          daysUntilExhaustion === null ? 'Never at this rate' : formatRange(projection),
        ],
        ['Lasts until period end', projection.willLastPeriod ? 'Yes' : 'No'],
        ['Throttled', throttle && `to ${throttle.maxRuns} concurrent runs`],
      ]}
    />
  );
}

function formatRange(projection: Projection): string {
  const { daysUntilExhaustion, earliestDaysUntilExhaustion, latestDaysUntilExhaustion } =
    projection;
  const days = (value: number | null) => (value === null ? '…' : value.toFixed(1));
  const range = `${days(earliestDaysUntilExhaustion)} to ${days(latestDaysUntilExhaustion)}`;
  return `${days(daysUntilExhaustion)} days (${range})`;
}

function Actions({ budget, others }: { budget: Budget; others: Budget[] }) {
  const path = { id: budget.id };
  const change = useCommand(
    (api, form: FormData) =>
      api.patch('/api/v1/budgets/{id}', {
        params: { path, header: ifMatch(form) },
        body: { allocated: readTokens(form, 'allocated') },
      }),
    { done: 'Budget updated', changes: CHANGES },
  );
  const move = useCommand(
    (api, form: FormData) =>
      api.post('/api/v1/budgets/{id}/reallocate', {
        params: { path },
        body: { to: String(form.get('to')), amount: readTokens(form, 'amount') },
      }),
    { done: 'Tokens moved', changes: CHANGES },
  );
  const targets = others.filter(({ id, isActive }) => id !== budget.id && isActive);
  return (
    <span className="chips">
      <FormDialog
        open="Edit budget"
        title="Edit budget"
        confirm="Save changes"
        version={budget.version}
        onConfirm={change.mutate}
      >
        <Tokens name="allocated" value={budget.allocated} />
      </FormDialog>
      {targets.length > 0 && (
        <FormDialog
          open="Move tokens"
          title="Move tokens to another budget"
          confirm="Move tokens"
          onConfirm={move.mutate}
        >
          <Field label="Target budget">
            <select className="input" name="to">
              {targets.map((target) => (
                <option key={target.id} value={target.id}>
                  {budgetName(target)}
                </option>
              ))}
            </select>
          </Field>
          <Tokens name="amount" />
        </FormDialog>
      )}
    </span>
  );
}

function Tokens({ name, value }: { name: string; value?: string }) {
  return (
    <Field label="Tokens">
      <input className="input" name={name} required {...TOKENS_INPUT} defaultValue={value} />
    </Field>
  );
}
