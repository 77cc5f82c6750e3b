import { Panel } from './parts.js';

/** What the server shows once and never again. */
export function Secret({ what, value }: { what: string; value: string }) {
  return (
    <Panel title={what}>
      <p>Copy it now: it is not shown again.</p>
      <pre className="foreign" tabIndex={0}>
        {value}
      </pre>
    </Panel>
  );
}
