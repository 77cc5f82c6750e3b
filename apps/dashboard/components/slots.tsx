/** Maximum number of drawn slots. Above it, only the numbers are shown. */
const MAX_DRAWN = 16;

/** Shows the used slots of an agent and its number of slots. */
export function Slots({ busy, all }: { busy: number; all: number }) {
  return (
    <span className="nowrap">
      {all <= MAX_DRAWN && (
        <span className="slots" aria-hidden="true">
          {Array.from({ length: all }, (_, index) => (
            <i key={index} className={index < busy ? 'busy' : ''} />
          ))}
        </span>
      )}{' '}
      <span className="muted">
        {busy} of {all}
      </span>
    </span>
  );
}
