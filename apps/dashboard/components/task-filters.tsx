import { type ComponentProps, type FormEvent, useEffect, useRef } from 'react';
import { useRead } from '../api/read.js';
import { toLabel } from './badge.js';
import { Button } from './parts.js';
import { LISTED_STATUSES, type ListedStatus } from '../domain/status.js';
import { stripControls } from '../domain/format.js';
import { parseFilter, type Sort, type TaskFilter, type Within } from '../domain/task-filter.js';
import { useAgents, useProjects } from './pickers.js';

interface TaskFiltersProps {
  filter: TaskFilter;
  onChange: (filter: TaskFilter) => void;
}

/** Filters without a field, which come from links of other pages. */
const LINKED = [
  ['failureFingerprint', 'failure'],
  ['milestoneId', 'milestone'],
  ['scheduleId', 'schedule'],
  ['idPrefix', 'ID'],
  ['unclaimable', 'capability'],
] as const;

const TIMES: Record<Within, string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

const ORDERS: Record<Sort, string> = {
  newest: 'Newest first',
  oldest: 'Oldest first',
  priority: 'Highest priority first',
  updated: 'Last changed first',
};

/** The filters of the task list. A click applies a status, Enter applies a text. */
export function TaskFilters({ filter, onChange }: TaskFiltersProps) {
  const chosen = filter.status ?? [];

  function toggle(status: ListedStatus): void {
    const next = chosen.includes(status)
      ? chosen.filter((other) => other !== status)
      : [...chosen, status];
    onChange(parseFilter({ ...filter, status: next }));
  }

  function search(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.currentTarget));
    onChange(parseFilter({ ...filter, ...fields }));
  }

  const projects = useProjects().data;
  const agents = useAgentsWith(filter.agentId);
  const chosenAt = (name: 'projectId' | 'agentId' | 'within' | 'sort') => ({
    value: filter[name] ?? (name === 'sort' ? 'newest' : ''),
    onChange: (value: string) => onChange(parseFilter({ ...filter, [name]: value })),
  });
  const links = LINKED.filter(([name]) => filter[name] !== undefined);
  return (
    <form className="filters" role="search" onSubmit={search} aria-label="Filters">
      <Field
        type="search"
        name="text"
        label="Search title, description or ID"
        placeholder="Search title, description or ID"
        value={filter.text}
      />
      <Field name="taskType" size={12} label="Type" placeholder="Type" value={filter.taskType} />
      <Field name="tag" size={12} label="Tag" placeholder="Tag" value={filter.tag} />
      <Button type="submit">Search</Button>
      <Select label="Project" all="All projects" items={projects} {...chosenAt('projectId')} />
      <Select label="Agent" all="All agents" items={agents} {...chosenAt('agentId')} />
      <Select label="Created" all="Any time" items={toItems(TIMES)} {...chosenAt('within')} />
      <Select label="Order" items={toItems(ORDERS)} {...chosenAt('sort')} />
      <div className="chips" role="group" aria-label="Status">
        {LISTED_STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            className="chip"
            aria-pressed={chosen.includes(status)}
            onClick={() => toggle(status)}
          >
            {toLabel(status)}
          </button>
        ))}
      </div>
      {links.map(([name, word]) => (
        <Button key={name} look="quiet" onClick={() => onChange({ ...filter, [name]: undefined })}>
          Remove {word} filter
        </Button>
      ))}
      {Object.keys(filter).length > 0 && (
        <Button look="quiet" onClick={() => onChange({})}>
          Clear filters
        </Button>
      )}
    </form>
  );
}

/** The agents that are not terminated, and the chosen one. */
function useAgentsWith(id = ''): Item[] | undefined {
  const { data: agents } = useAgents();
  const isOther = id !== '' && agents?.every((agent) => agent.id !== id) === true;
  const { data: other } = useRead(
    ['agent-names', id],
    (api, signal) => api.get('/api/v1/agents/{id}', { params: { path: { id } }, signal }),
    { enabled: isOther },
  );
  return isOther && other ? [...agents, other] : agents;
}

interface Item {
  id: string;
  name: string;
}

const toItems = (words: Record<string, string>): Item[] =>
  Object.entries(words).map(([id, name]) => ({ id, name }));

interface SelectProps {
  label: string;
  /** The choice without a filter. */
  all?: string;
  items: Item[] | undefined;
  value: string;
  onChange: (value: string) => void;
}

/** A choice that applies at once. An unknown value stays, with its id as its name. */
function Select({ label, all, items = [], value, onChange }: SelectProps) {
  const isKnown = value === '' || items.some(({ id }) => id === value);
  return (
    <select
      className="input"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {all !== undefined && <option value="">{all}</option>}
      {!isKnown && <option value={value}>{value}</option>}
      {items.map(({ id, name }) => (
        <option key={id} value={id}>
          {stripControls(name)}
        </option>
      ))}
    </select>
  );
}

interface FieldProps extends Omit<ComponentProps<'input'>, 'value' | 'defaultValue'> {
  label: string;
  value: string | undefined;
}

/** A text field that applies on Enter. It keeps the cursor and follows changes of the filter. */
function Field({ label, value = '', ...rest }: FieldProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current) input.current.value = value;
  }, [value]);
  return <input ref={input} className="input" aria-label={label} defaultValue={value} {...rest} />;
}
