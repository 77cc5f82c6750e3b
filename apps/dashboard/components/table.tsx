import {
  createColumnHelper,
  type ColumnDef,
  type RowData,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';

const features = tableFeatures({});
type Features = typeof features;

export interface Column<T> {
  id: string;
  head: string;
  /** A CSS grid track: `90px`, `minmax(160px, 2fr)`. */
  width: string;
  /** Aligns the column to the right. */
  isNumber?: boolean;
  cell: (row: T) => ReactNode;
}

/** Defines table columns. Call it once, outside of components. */
export function defineColumns<T extends RowData>(columns: Column<T>[]): TableColumns<T> {
  const helper = createColumnHelper<Features, T>();
  return {
    defs: columns.map(({ id, head, cell }) =>
      helper.display({ id, header: head, cell: ({ row }) => cell(row.original) }),
    ) as ColumnDef<Features, T>[],
    template: columns.map(({ width }) => width).join(' '),
    numbers: new Set(columns.filter(({ isNumber }) => isNumber).map(({ id }) => id)),
  };
}

interface TableColumns<T extends RowData> {
  defs: ColumnDef<Features, T>[];
  template: string;
  numbers: Set<string>;
}

interface TableProps<T extends RowData> {
  label: string;
  columns: TableColumns<T>;
  rows: T[];
  keyOf: (row: T) => string;
  /** Fills the window's height and renders visible rows only, for lists of any length. */
  tall?: boolean;
  /** Called near the end of a tall table. */
  onEnd?: () => void;
  /** Minimum width in pixels. A narrower table scrolls sideways. */
  least?: number;
}

const ROW_PX = 36;
const AHEAD = 30;

/** A table. Arrows, Home and End move the focus between the links of its rows. */
export function Table<T extends RowData>(props: TableProps<T>) {
  const { label, columns, rows, keyOf, tall = false, onEnd, least = 560 } = props;
  const frame = useRef<HTMLDivElement>(null);
  const table = useTable({ features, columns: columns.defs, data: rows, getRowId: keyOf });
  const model = table.getRowModel().rows;
  const virtual = useVirtualizer({
    count: tall ? model.length : 0,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const drawn = virtual.getVirtualItems();
  const lastDrawn = drawn.at(-1)?.index ?? 0;
  useEffect(() => {
    if (tall && lastDrawn >= model.length - AHEAD) onEnd?.();
  }, [tall, lastDrawn, model.length, onEnd]);

  /** The row that gets the focus once it is drawn, which a slow browser does some frames later. */
  const wanted = useRef<number>(undefined);
  function focusWanted(): void {
    if (wanted.current === undefined) return;
    const row = frame.current?.querySelector(`[aria-rowindex="${wanted.current + 2}"]`);
    if (!row) return;
    wanted.current = undefined;
    row.querySelector<HTMLElement>('a')?.focus({ preventScroll: tall });
  }
  useEffect(focusWanted);

  const gridTemplateColumns = columns.template;
  const alignmentOf = (id: string) => (columns.numbers.has(id) ? 'number' : '');
  const rowAt = (index: number, start?: number) => {
    const row = model[index];
    if (row === undefined) return null;
    const position =
      start === undefined
        ? {}
        : { className: 'virtual openable', transform: `translateY(${start}px)` };
    return (
      <div
        key={row.id}
        role="row"
        aria-rowindex={index + 2}
        className={position.className ?? 'openable'}
        style={{ gridTemplateColumns, transform: position.transform }}
      >
        {row.getAllCells().map((cell) => (
          <div
            role="cell"
            key={cell.id}
            data-head={cell.column.columnDef.header}
            className={alignmentOf(cell.column.id)}
          >
            <table.FlexRender cell={cell} />
          </div>
        ))}
      </div>
    );
  };

  function moveFocus(event: KeyboardEvent<HTMLDivElement>): void {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    const isEnd = event.key === 'Home' || event.key === 'End';
    const here = (event.target as HTMLElement).closest('[role=row]');
    if ((by === undefined && !isEnd) || !here || !(event.target as HTMLElement).matches('a'))
      return;
    event.preventDefault();
    const from = Number(here.getAttribute('aria-rowindex')) - 2;
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? model.length - 1 : from + (by ?? 0);
    const target = Math.max(0, Math.min(model.length - 1, to));
    if (tall) virtual.scrollToIndex(target);
    wanted.current = target;
    focusWanted();
  }

  return (
    // The frame scrolls, so the keyboard must reach it even if no row has a link.
    <div
      ref={frame}
      className={`table-frame ${tall ? 'tall' : ''}`}
      tabIndex={0}
      role="group"
      aria-label={label}
      onKeyDown={moveFocus}
    >
      <div
        className="table"
        role="table"
        aria-label={label}
        aria-rowcount={model.length + 1}
        style={{ minWidth: least }}
      >
        <div role="rowgroup" className="heads">
          <div role="row" aria-rowindex={1} style={{ gridTemplateColumns, minHeight: 32 }}>
            {table.getHeaderGroups()[0]?.headers.map((header) => (
              <div role="columnheader" key={header.id} className={alignmentOf(header.column.id)}>
                <table.FlexRender header={header} />
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" style={tall ? { height: virtual.getTotalSize() } : {}}>
          {tall
            ? drawn.map(({ index, start }) => rowAt(index, start))
            : model.map((_, index) => rowAt(index))}
        </div>
      </div>
    </div>
  );
}
