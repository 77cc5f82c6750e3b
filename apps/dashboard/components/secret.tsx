import { Panel } from './parts.js';

/** Shows a secret that the server returns only once. */
export function Secret({ title, value }: { title: string; value: string }) {
  return (
    <Panel title={title}>
      <p>Copy this value now. Drover shows it only once.</p>
      <pre className="foreign" tabIndex={0}>
        {value}
      </pre>
    </Panel>
  );
}
