import Anser from 'anser';

/** Shows a text with the colours of its terminal codes. Other colours than the basic ones are left out. */
export function ColouredText({ text }: { text: string }) {
  const parts = Anser.ansiToJson(text, { use_classes: true, remove_empty: true });
  return parts.map(({ content, fg, bg, decorations }, index) => {
    const names = [bg ? `${bg}-bg` : fg, ...decorations.map((word) => `ansi-${word}`)];
    return (
      <span key={index} className={names.filter(Boolean).join(' ')}>
        {content}
      </span>
    );
  });
}
