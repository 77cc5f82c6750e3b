import type { components } from '#lib/api-client';
import { useCommand, usePages } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { formatDollars, stripControls } from '../domain/format.js';
import { FormDialog } from './form-dialog.js';
import { Ago, Button, Empty, Field, Loaded, Panel } from './parts.js';
import { defineColumns, Table } from './table.js';

type Price = components['schemas']['ModelPrice'];

const KINDS = [
  ['inputUsd', 'Input'],
  ['outputUsd', 'Output'],
  ['cacheReadUsd', 'Cache read'],
  ['cacheWriteUsd', 'Cache write'],
] as const;
const TIERS = ['haiku', 'sonnet', 'opus'] as const;

const COLUMNS = defineColumns<Price>([
  {
    id: 'model',
    head: 'Model',
    width: 'minmax(160px, 2fr)',
    cell: ({ model }) => <bdi>{stripControls(model)}</bdi>,
  },
  { id: 'tier', head: 'Tier', width: '72px', cell: ({ tier }) => tier },
  {
    id: 'from',
    head: 'Applies since',
    width: '112px',
    cell: ({ effectiveFrom }) => <Ago at={effectiveFrom} />,
  },
  ...KINDS.map(([id, head]) => ({
    id,
    head,
    width: '88px',
    isNumber: true,
    cell: (price: Price) => formatDollars(price[id]),
  })),
]);

/** The prices of models in USD per million tokens. Operators create them. */
export function ModelPrices() {
  const { user } = useWorkspace();
  const prices = usePages(['model-prices', 'list'], (api, cursor, signal) =>
    api.get('/api/v1/model-prices', { params: { query: { limit: 100, cursor } }, signal }),
  );
  return (
    <Panel title="Prices in USD per million tokens" end={user.isOperator && <CreatePrice />} flush>
      <Loaded query={prices}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          return rows.length === 0 ? (
            <Empty title="No prices yet" small>
              <p>Without a price, usage of a model has no cost. An operator creates prices.</p>
            </Empty>
          ) : (
            <Table
              label="Prices of models"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ model, effectiveFrom }) => `${model} ${effectiveFrom}`}
              least={740}
            />
          );
        }}
      </Loaded>
      {prices.hasNextPage && (
        <Button onClick={() => void prices.fetchNextPage()}>Show more prices</Button>
      )}
    </Panel>
  );
}

function CreatePrice() {
  const create = useCommand(
    (api, form: FormData) => {
      const text = (name: string) => String(form.get(name) ?? '').trim();
      const from = text('effectiveFrom');
      return api.post('/api/v1/model-prices', {
        body: {
          model: text('model'),
          tier: text('tier') as Price['tier'],
          ...(from !== '' && { effectiveFrom: new Date(from).toISOString() }),
          inputUsd: text('inputUsd'),
          outputUsd: text('outputUsd'),
          cacheReadUsd: text('cacheReadUsd'),
          cacheWriteUsd: text('cacheWriteUsd'),
        },
      });
    },
    { done: 'Price created', changes: [['model-prices']] },
  );
  return (
    <FormDialog
      open="Create price"
      title="Create the price of a model"
      confirm="Create price"
      onConfirm={create.mutate}
    >
      <p>A price never changes. A later one replaces it.</p>
      <Field label="Model">
        <input className="input" name="model" required maxLength={100} />
      </Field>
      <div className="pair">
        <Field label="Tier" hint="haiku is the cheapest.">
          <select className="input" name="tier" defaultValue="sonnet">
            {TIERS.map((tier) => (
              <option key={tier}>{tier}</option>
            ))}
          </select>
        </Field>
        <Field label="Applies from" hint="Empty: now.">
          <input className="input" name="effectiveFrom" type="datetime-local" />
        </Field>
      </div>
      <div className="pair">
        {KINDS.map(([name, label]) => (
          <Field key={name} label={`${label} (USD)`}>
            <input
              className="input"
              name={name}
              required
              inputMode="decimal"
              pattern="[0-9]{1,6}(\.[0-9]{1,6})?"
            />
          </Field>
        ))}
      </div>
    </FormDialog>
  );
}
