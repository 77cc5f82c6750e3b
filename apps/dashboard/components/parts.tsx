import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { sentenceOf } from '../api/read.js';
import { useNow } from './now.js';
import { agoOf, exactOf } from '../domain/format.js';

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: 'primary' | 'danger' | 'quiet';
};

export function Button({ look, className, type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`button ${look ?? ''} ${className ?? ''}`} {...rest} />;
}

interface PageProps {
  title: ReactNode;
  /** What the tab of the browser says; the title, where that is a text. */
  name?: string;
  above?: ReactNode;
  beside?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A page: its heading, what can be done on it, and what it shows. */
export function Page({ title, name, above, beside, actions, children }: PageProps) {
  return (
    <>
      <title>{`${name ?? (typeof title === 'string' ? title : '')} · Drover`}</title>
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
  /** Without distances, for tables and lists that have their own. */
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
  wrong?: string | undefined;
  children: ReactNode;
}

export function Field({ label, hint, wrong, children }: FieldProps) {
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

/** Nothing to show: what that means, and what to do. */
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
      <h2>This could not be read</h2>
      <p>{sentenceOf(error)}</p>
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

/** What was read; else that it is being read, or why it cannot be. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <Failure error={query.error} retry={() => void query.refetch()} />;
  return (
    <div className="state" aria-busy="true">
      Loading …
    </div>
  );
}

/** A moment, as the time since it; the exact one on pointing at it. */
export function Ago({ at }: { at: string | null | undefined }) {
  const now = useNow();
  if (!at) return <span className="muted">–</span>;
  return (
    <time dateTime={at} title={exactOf(at)} className="nowrap">
      {agoOf(at, now)}
    </time>
  );
}

/** How much of something there is; with `warns`, of what should not be used up. */
export function Meter({
  percent,
  label,
  warns = false,
}: {
  percent: number;
  label: string;
  warns?: boolean;
}) {
  const shown = Math.max(0, Math.min(100, percent));
  const warning = percent >= 100 ? 'full' : percent >= 75 ? 'warn' : '';
  const tone = warns ? warning : '';
  return (
    <span className={`meter ${tone}`} role="img" aria-label={`${label}: ${Math.round(percent)} %`}>
      <span style={{ width: `${shown}%` }} />
    </span>
  );
}

/** Names and values; what has no value is left out. */
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
