import { type ButtonHTMLAttributes, isValidElement, type ReactNode, use, useEffect } from 'react';
import { useRouter } from '@tanstack/react-router';
import { describeError } from '../api/read.js';
import { describeFieldError, FormProblem } from './field-errors.js';
import { useNow } from './now.js';
import { nameInPath } from '../domain/addresses.js';
import { formatRelative, formatExact } from '../domain/format.js';

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: 'primary' | 'danger' | 'quiet';
};

export function Button({ look, className, type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`button ${look ?? ''} ${className ?? ''}`} {...rest} />;
}

interface PageProps {
  title: ReactNode;
  /** The title of the browser tab. The default is `title` if it is a string. */
  name?: string;
  /** The page shows one thing: its address gets the title in front of the id. */
  isThing?: boolean;
  above?: ReactNode;
  beside?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A page with its heading, its actions and its content. */
export function Page({ title, name, isThing, above, beside, actions, children }: PageProps) {
  const words = name ?? (typeof title === 'string' ? title : '');
  const { history } = useRouter();
  useEffect(() => {
    const { pathname, search, hash } = history.location;
    const path = isThing ? nameInPath(pathname, words) : undefined;
    if (path !== undefined && path !== pathname) history.replace(path + search + hash);
  }, [history, isThing, words]);
  return (
    <>
      <title>{`${words} · Drover`}</title>
      <div className="page-head">
        {above && <div className="crumbs">{above}</div>}
        <h1 dir="auto">{title}</h1>
        {beside}
        {actions && <div className="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

interface PanelProps {
  title: string;
  end?: ReactNode;
  /** Removes the padding, for tables and lists that have their own. */
  flush?: boolean;
  children: ReactNode;
}

export function Panel({ title, end, flush = false, children }: PanelProps) {
  return (
    <section className="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {end !== undefined && <div className="end">{end}</div>}
      </header>
      {flush ? children : <div className="inside">{children}</div>}
    </section>
  );
}

interface FieldProps {
  label: string;
  hint?: string;
  error?: string | undefined;
  children: ReactNode;
}

/** A field with its label. It shows the error of its form's request that is about its control. */
export function Field({ label, hint, error, children }: FieldProps) {
  const problem = use(FormProblem);
  const name = isValidElement<{ name?: string }>(children) ? children.props.name : undefined;
  const wrong = error ?? (name && describeFieldError(problem, name, label));
  return (
    <label className="field">
      <span>{label}</span>
      {children}
      {hint && <span className="hint">{hint}</span>}
      {wrong && (
        <span className="wrong" role="alert">
          {wrong}
        </span>
      )}
    </label>
  );
}

/** An empty state: its title and the next step. */
export function Empty({
  title,
  children,
  small = false,
}: {
  title: string;
  children?: ReactNode;
  small?: boolean;
}) {
  return (
    <div className={`state ${small ? 'small' : ''}`}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div className="state" role="alert">
      <h2>Couldn't load the data</h2>
      <p>{describeError(error)}</p>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

interface LoadedProps<T> {
  query: {
    data: T | undefined;
    error: unknown;
    isPending: boolean;
    refetch: () => unknown;
  };
  children: (data: T) => ReactNode;
}

/** Renders loaded data, a loading state or an error. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <Failure error={query.error} retry={() => void query.refetch()} />;
  return (
    <div className="state" aria-busy="true">
      Loading…
    </div>
  );
}

/** Shows a moment as relative time. The tooltip has the exact time. */
export function Ago({ at }: { at: string | null | undefined }) {
  const now = useNow();
  if (!at) return <span className="muted">–</span>;
  return (
    <time dateTime={at} title={formatExact(at)} className="nowrap">
      {formatRelative(at, now)}
    </time>
  );
}

/** Shows a percentage as a bar. `warns` colours a bar that is nearly full. */
export function Meter({
  percent,
  label,
  warns = false,
}: {
  percent: number;
  label: string;
  warns?: boolean;
}) {
  const bounded = Math.max(0, Math.min(100, percent));
  const warning = percent >= 100 ? 'full' : percent >= 75 ? 'warn' : '';
  const tone = warns ? warning : '';
  return (
    <span className={`meter ${tone}`} role="img" aria-label={`${label}: ${Math.round(percent)}%`}>
      <span style={{ width: `${bounded}%` }} />
    </span>
  );
}

/** Lists names and values. Items without a value are left out. */
export function Facts({ items }: { items: [string, ReactNode][] }) {
  const known = items.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return (
    <dl className="facts">
      {known.map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
