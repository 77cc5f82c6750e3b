import { useMemo } from 'react';
import { Diff, Hunk, parseDiff } from 'react-diff-view';
import { stripControls } from '../domain/format.js';
import { toUnifiedDiff } from '../domain/text-diff.js';
import 'react-diff-view/style/index.css';
import '../styles/diff.css';

/** A change of files in a text, with coloured lines. */
export function TextDiff({ text }: { text: string }) {
  const { files, hasNumbers } = useMemo(() => {
    const { diff, hasNumbers } = toUnifiedDiff(stripControls(text));
    return { files: parseDiff(diff, { nearbySequences: 'zip' }), hasNumbers };
  }, [text]);
  return files.map(({ type, oldPath, newPath, hunks }, index) => {
    const path = type === 'delete' ? oldPath : newPath;
    return (
      <div key={index} className="text-diff">
        <p className="diff-head">{path}</p>
        <div className="diff-scroll" tabIndex={0} role="group" aria-label={`Lines of ${path}`}>
          <Diff
            viewType="unified"
            diffType={type}
            hunks={hunks}
            gutterType={hasNumbers ? 'default' : 'none'}
          >
            {(all) => all.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
          </Diff>
        </div>
      </div>
    );
  });
}
