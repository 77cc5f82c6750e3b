import { useMemo, useState } from 'react';
import {
  type ChangeData,
  Decoration,
  Diff,
  type FileData,
  getChangeKey,
  Hunk,
  parseDiff,
  tokenize,
} from 'react-diff-view';
import { refractor } from 'refractor';
import { type LineComment, languageOf } from '../domain/changes.js';
import { stripControls } from '../domain/format.js';
import { Button, Field } from './parts.js';
import 'react-diff-view/style/index.css';
import '../styles/diff.css';

/** Larger files are drawn without colours and only on request, in lines. */
const LARGE = 1_500;

export type DiffView = 'split' | 'unified';

interface ChangeDiffProps {
  diff: string;
  view: DiffView;
  comments: readonly LineComment[];
  /** Undefined: the user cannot comment. */
  onComment: ((comment: LineComment) => void) | undefined;
  /** Tells diffs of one page apart. */
  name?: string;
}

/** The files of a change with their lines, and a form for a comment at each of them. */
export function ChangeDiff({ diff, ...rest }: ChangeDiffProps) {
  const { name } = rest;
  const files = useMemo(() => parseDiff(diff, { nearbySequences: 'zip' }), [diff]);
  if (files.length === 0) return <p className="muted">The submission changes no file.</p>;
  return (
    <div className="stack">
      <nav aria-label={labelIn(name, 'Changed files')}>
        <ul className="diff-files">
          {files.map((file, index) => (
            <li key={pathOf(file)}>
              <a href={`#${idOf(name, index)}`} className="link">
                <bdi>{stripControls(pathOf(file))}</bdi>
              </a>{' '}
              <Counts file={file} />
            </li>
          ))}
        </ul>
      </nav>
      {files.map((file, index) => (
        <OneFile key={pathOf(file)} file={file} index={index} {...rest} />
      ))}
    </div>
  );
}

function labelIn(name: string | undefined, label: string): string {
  return name === undefined ? label : `${label} of ${name}`;
}

function idOf(name: string | undefined, index: number): string {
  return name === undefined ? `file-${index}` : `file-${index}-${name.replaceAll(' ', '-')}`;
}

function pathOf({ type, oldPath, newPath }: FileData): string {
  return type === 'delete' ? oldPath : newPath;
}

function Counts({ file }: { file: FileData }) {
  const all = file.hunks.flatMap(({ changes }) => changes);
  const added = all.filter(({ type }) => type === 'insert').length;
  const removed = all.filter(({ type }) => type === 'delete').length;
  return (
    <span className="muted nowrap">
      +{added} −{removed}
    </span>
  );
}

type OneFileProps = Omit<ChangeDiffProps, 'diff'> & { file: FileData; index: number };

function OneFile({ file, index, view, comments, onComment, name }: OneFileProps) {
  const [chosen, setChosen] = useState<ChangeData>();
  const lines = file.hunks.reduce((sum, { changes }) => sum + changes.length, 0);
  const [isOpen, setOpen] = useState(lines <= LARGE);
  const path = pathOf(file);
  const tokens = useMemo(() => (lines <= LARGE ? coloured(file, path) : null), [file, path, lines]);
  const own = comments.filter((comment) => comment.path === path);
  const widgets = Object.fromEntries(
    file.hunks
      .flatMap(({ changes }) => changes)
      .flatMap((change) => {
        const here = own.filter((comment) => isAt(change, comment));
        const isChosen = chosen !== undefined && getChangeKey(chosen) === getChangeKey(change);
        if (here.length === 0 && !isChosen) return [];
        const widget = (
          <div className="diff-comments">
            {here.map(({ text }, at) => (
              <p key={at} dir="auto">
                {stripControls(text)}
              </p>
            ))}
            {isChosen && onComment && (
              <CommentForm
                onClose={() => setChosen(undefined)}
                onSubmit={(text) => onComment({ path, ...placeOf(change), text })}
              />
            )}
          </div>
        );
        return [[getChangeKey(change), widget] as const];
      }),
  );
  const select = {
    onClick: ({ change }: { change: ChangeData | null }) => setChosen(change ?? undefined),
  };
  return (
    <section
      className="panel"
      id={idOf(name, index)}
      aria-label={labelIn(name, stripControls(path))}
    >
      <header>
        <h2>
          <bdi>{nameOf(file)}</bdi>
        </h2>
        <div className="end">
          <Counts file={file} />
        </div>
      </header>
      {isOpen ? (
        <div
          className="diff-scroll"
          tabIndex={0}
          role="region"
          aria-label={labelIn(name, `Lines of ${path}`)}
        >
          <Diff
            viewType={view}
            diffType={file.type}
            hunks={file.hunks}
            tokens={tokens}
            widgets={widgets}
            gutterEvents={onComment ? select : {}}
          >
            {(hunks) =>
              hunks.flatMap((hunk) => [
                <Decoration key={`head ${hunk.content}`}>
                  <span className="diff-head">{hunk.content}</span>
                </Decoration>,
                <Hunk key={hunk.content} hunk={hunk} />,
              ])
            }
          </Diff>
        </div>
      ) : (
        <p className="inside">
          <Button onClick={() => setOpen(true)}>Show {lines.toLocaleString()} lines</Button>
        </p>
      )}
    </section>
  );
}

function nameOf({ type, oldPath, newPath }: FileData): string {
  const renamed = type === 'rename' || type === 'copy';
  const name = renamed ? `${oldPath} → ${newPath}` : type === 'delete' ? oldPath : newPath;
  const mark = type === 'add' ? ' (new)' : type === 'delete' ? ' (deleted)' : '';
  return stripControls(name) + mark;
}

/** Colours are a help: without them the lines are shown all the same. */
function coloured({ hunks }: FileData, path: string) {
  const language = languageOf(path);
  if (language === undefined || !refractor.registered(language)) return null;
  const highlighter = {
    highlight: (text: string, name: string) => refractor.highlight(text, name).children,
  };
  try {
    return tokenize(hunks, { highlight: true, refractor: highlighter, language });
  } catch {
    return null;
  }
}

function placeOf(change: ChangeData): { line: number; side: 'before' | 'after' } {
  if (change.type === 'normal') return { line: change.newLineNumber, side: 'after' };
  return { line: change.lineNumber, side: change.type === 'delete' ? 'before' : 'after' };
}

function isAt(change: ChangeData, { line, side }: LineComment): boolean {
  const place = placeOf(change);
  return place.line === line && place.side === side;
}

interface CommentFormProps {
  onSubmit: (text: string) => void;
  onClose: () => void;
}

function CommentForm({ onSubmit, onClose }: CommentFormProps) {
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(String(new FormData(event.currentTarget).get('text')));
        onClose();
      }}
    >
      <Field label="Comment">
        <textarea className="input" name="text" rows={3} required maxLength={4_000} autoFocus />
      </Field>
      <div className="chips">
        <Button type="submit" look="primary">
          Add comment
        </Button>
        <Button onClick={onClose}>Close</Button>
      </div>
    </form>
  );
}
