import { type ReactNode, useMemo, useState } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { cutText } from '../domain/format.js';
import { isTextDiff } from '../domain/text-diff.js';
import { Button } from './parts.js';
import { TextDiff } from './text-diff.js';
import '../styles/markdown.css';

const INITIAL_LENGTH = 8_000;
const MAX_LENGTH = 200_000;
const OPENED = /^(?:https?|mailto):/i;

/**
 * Shows Markdown of agents and users. HTML in it is text, images are links, and links lead only to
 * web pages and mail addresses. A long text is cut.
 */
export function Markdown({ text }: { text: string }) {
  const [longest, setLongest] = useState(INITIAL_LENGTH);
  const [visible, leftOut] = useMemo(() => cutText(text, longest), [text, longest]);
  return (
    <div className="markdown" dir="auto">
      <ReactMarkdown
        remarkPlugins={PLUGINS}
        components={COMPONENTS}
        urlTransform={(url) => (OPENED.test(url) ? url : '')}
      >
        {visible}
      </ReactMarkdown>
      {leftOut > 0 && (
        <p className="muted">
          {leftOut.toLocaleString()} more characters are hidden.{' '}
          {longest < MAX_LENGTH && (
            <Button onClick={() => setLongest(MAX_LENGTH)}>Show more</Button>
          )}
        </p>
      )}
    </div>
  );
}

const PLUGINS = [remarkGfm];

interface Inner {
  children?: ReactNode;
}

// The text is below the heading of a panel, and its levels are not those of the page.
const heading = (level: number) =>
  function Heading({ children }: Inner) {
    return <h3 className={`level-${level}`}>{children}</h3>;
  };

/** No element keeps an id of the text, because a page shows several texts. */
const COMPONENTS: Components = {
  h1: heading(1),
  h2: heading(2),
  h3: heading(3),
  h4: heading(4),
  h5: heading(4),
  h6: heading(4),
  a: ({ href, children }) => <TextLink href={href}>{children}</TextLink>,
  img: ({ src, alt }) => (
    <TextLink href={typeof src === 'string' ? src : undefined}>
      [image: {alt || 'no name'}]
    </TextLink>
  ),
  input: ({ checked }) => (
    <span role="img" aria-label={checked ? 'Done' : 'To do'}>
      {checked ? '☑' : '☐'}
    </span>
  ),
  table: ({ children }) => (
    <div className="markdown-scroll" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  pre: ({ node, children }) => {
    const diff = diffOf(node);
    if (diff !== undefined) return <TextDiff text={diff} />;
    return (
      <pre tabIndex={0} dir="ltr">
        {children}
      </pre>
    );
  },
  code: ({ children }) => <code>{children}</code>,
  section: ({ children }) => <div>{children}</div>,
  li: ({ children }) => <li>{children}</li>,
};

/** The text of a fenced diff. */
function diffOf(node: ExtraProps['node']): string | undefined {
  const [code] = node?.children ?? [];
  if (code?.type !== 'element') return undefined;
  const language = String([code.properties['className']].flat()[0]);
  const [text] = code.children;
  const isDiff = /^language-(?:diff|patch)$/.test(language) && text?.type === 'text';
  return isDiff && isTextDiff(text.value) ? text.value : undefined;
}

function TextLink({ href, children }: { href: string | undefined } & Inner) {
  if (!href) return children;
  return (
    <a href={href} className="link" target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}
