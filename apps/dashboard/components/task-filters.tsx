import { type ComponentProps, type FormEvent, useEffect, useRef } from 'react';
import { toLabel } from './badge.js';
import { Button } from './parts.js';
import { LISTED_STATUSES, type ListedStatus } from '../domain/status.js';
import { parseFilter, type TaskFilter } from '../domain/task-filter.js';

interface TaskFiltersProps {
  filter: TaskFilter;
  onChange: (filter: TaskFilter) => void;
}

/** Filters without a field, which come from links of other pages. */
const LINKED = [
  ['agentId', 'agent'],
  ['projectId', 'project'],
  ['failureFingerprint', 'failure'],
] as const;

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

  const links = LINKED.filter(([name]) => filter[name] !== undefined);
  return (
    <form className="filters" role="search" onSubmit={search} aria-label="Filters">
      <Field
        type="search"
        name="text"
        label="Search title and description"
        placeholder="Search title and description"
        value={filter.text}
      />
      <Field name="taskType" size={12} label="Type" placeholder="Type" value={filter.taskType} />
      <Field name="tag" size={12} label="Tag" placeholder="Tag" value={filter.tag} />
      <Button type="submit">Search</Button>
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
