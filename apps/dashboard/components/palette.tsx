import { useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useRef, useState } from 'react';
import { session } from '../api/session.js';
import { useRead } from '../api/read.js';
import { useSavedViews } from '../api/saved-views.js';
import { useWorkspace } from '../api/workspace.js';
import { stripControls } from '../domain/format.js';
import { toQuery } from '../domain/task-filter.js';
import { useAgents, useProjects } from './pickers.js';
import '../styles/palette.css';

interface Entry {
  key: string;
  kind: 'Page' | 'Action' | 'View' | 'Task' | 'Agent' | 'Project' | 'Schedule';
  name: string;
  run: () => unknown;
}

interface PaletteProps {
  pages: readonly { to: string; name: string }[];
  onClose: () => void;
}

/** The number of tasks, agents, projects and schedules that are offered. */
const MOST = 8;
const MIN_LENGTH = 2;

/**
 * Opens pages, saved views, tasks by title or ID, agents, projects and schedules, and runs actions,
 * by the keyboard alone.
 */
export default function Palette({ pages, onClose }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const listId = useId();
  const entries = useEntries(pages, text.trim());
  const chosen = Math.min(active, entries.length - 1);
  useEffect(() => dialog.current?.showModal(), []);

  function run(entry: Entry | undefined): void {
    if (entry === undefined) return;
    dialog.current?.close();
    void entry.run();
  }

  function move(event: KeyboardEvent): void {
    if (event.key === 'Enter') run(entries[chosen]);
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || entries.length === 0) return;
    event.preventDefault();
    setActive((chosen + step + entries.length) % entries.length);
  }

  return (
    <dialog ref={dialog} className="palette" aria-label="Command palette" onClose={onClose}>
      <input
        className="input"
        role="combobox"
        aria-label="Search pages, tasks, agents, projects, schedules and actions"
        placeholder="Search pages, tasks, agents, projects, schedules and actions"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={entries[chosen] && `${listId}-${chosen}`}
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
        onKeyDown={move}
      />
      <ul role="listbox" id={listId} aria-label="Results">
        {entries.map(({ key, kind, name }, index) => (
          <li
            key={key}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === chosen}
            ref={index === chosen ? showOption : undefined}
            onClick={() => run(entries[index])}
          >
            <span className="clip">{name}</span>
            <span className="muted">{kind}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p className="muted">Nothing matches</p>}
    </dialog>
  );
}

const showOption = (option: HTMLElement | null) => option?.scrollIntoView({ block: 'nearest' });

function useEntries(pages: PaletteProps['pages'], text: string): Entry[] {
  const router = useRouter();
  const { may } = useWorkspace();
  const searched = useDeferredValue(text);
  const open = (to: string) => () => router.navigate({ to });
  const toPages = pages.map(({ to, name }) => {
    return { key: to, kind: 'Page' as const, name, run: open(to) };
  });
  const actions: Entry[] = [
    ...(may('MEMBER')
      ? [{ key: 'new', kind: 'Action' as const, name: 'Create task', run: open('/tasks/new') }]
      : []),
    ...(may('ADMIN')
      ? [{ key: 'kill', kind: 'Action' as const, name: 'Kill switch', run: open('/coordinator') }]
      : []),
    { key: 'out', kind: 'Action', name: 'Sign out', run: () => session.signOut() },
  ];
  const views = useSavedViews().views.map(({ name, filter: search }) => {
    const run = () => router.navigate({ to: '/tasks', search });
    return { key: `view ${name}`, kind: 'View' as const, name: stripControls(name), run };
  });
  const tasks = useTasks(searched).map(({ id, title }) => {
    const name = `${stripControls(title)} · ${id}`;
    return { key: id, kind: 'Task' as const, name, run: open(`/tasks/${id}`) };
  });
  const toEntry = (kind: Entry['kind'], path: string) => (thing: { id: string; name: string }) => {
    const name = stripControls(thing.name);
    return { key: thing.id, kind, name, run: open(`/${path}/${thing.id}`) };
  };
  const agents = (useAgents().data ?? []).map(toEntry('Agent', 'agents'));
  const projects = (useProjects().data ?? []).map(toEntry('Project', 'projects'));
  const schedules = useSchedules(searched).map(toEntry('Schedule', 'schedules'));
  const matches = ({ name }: Entry) => name.toLowerCase().includes(text.toLowerCase());
  const found = [agents, projects].flatMap((all) => all.filter(matches).slice(0, MOST));
  const things = text.length < MIN_LENGTH ? [] : [...found, ...schedules];
  return [...[...actions, ...toPages, ...views].filter(matches), ...things, ...tasks];
}

/** The newest schedules with this text in their names. */
function useSchedules(text: string) {
  const schedules = useRead(
    ['schedules-found', text],
    (api, signal) =>
      api.get('/api/v1/schedules', { params: { query: { text, limit: MOST } }, signal }),
    { enabled: text.length >= MIN_LENGTH },
  );
  return text.length < MIN_LENGTH ? [] : (schedules.data?.items ?? []);
}

/** The newest tasks with this text, or whose ID begins with it. */
function useTasks(text: string) {
  const query = { ...toQuery({ text }), limit: MOST };
  const tasks = useRead(
    ['tasks-found', text],
    async (api, signal) => {
      const { items } = await api.get('/api/v1/agent-tasks', { params: { query }, signal });
      return items.map(({ id, title }) => ({ id, title }));
    },
    { enabled: text.length >= MIN_LENGTH },
  );
  return text.length < MIN_LENGTH ? [] : (tasks.data ?? []);
}
