import { notify } from './notices.js';
import { Button, Panel } from './parts.js';

/** Shows a secret that the server returns only once. */
export function Secret({ title, value }: { title: string; value: string }) {
  return (
    <Panel title={title} end={<Copy value={value} />}>
      <p>Copy this value now. Drover shows it only once.</p>
      <pre className="foreign" tabIndex={0}>
        {value}
      </pre>
    </Panel>
  );
}

function Copy({ value }: { value: string }) {
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(value);
      notify('Copied');
    } catch {
      // Browsers refuse it on pages without TLS.
      notify("Couldn't copy. Select the value and copy it by hand.", 'bad');
    }
  }
  return <Button onClick={() => void copy()}>Copy</Button>;
}
