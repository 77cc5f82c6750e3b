/** So many slots are drawn; of more the numbers alone are shown. */
const DRAWN = 16;

/** How many tasks an agent holds, of how many it takes at once. */
export function Slots({ busy, all }: { busy: number; all: number }) {
  return (
    <span className="nowrap">
      {all <= DRAWN && (
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
