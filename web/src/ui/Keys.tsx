// The keys there are, shown by ?.
import { nav } from "./nav";
import { Dialog } from "./form";

const general: [string, string][] = [
  ["?", "These keys"],
  ["/ or Ctrl K", "Search, or go to anything"],
  ["j / k", "Next and previous row of a list"],
  ["Enter", "Open the row"],
  ["Space", "Peek at the row without leaving the list"],
  ["x", "Choose the row, to do something to several"],
  ["Ctrl Enter", "Send what is written"],
  ["Esc", "Close; what was typed is kept"],
];

export function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog opened onClose={onClose} title="Keys">
      <dl className="keys">
        {[...general, ...nav.map((n): [string, string] => [`g ${n.key}`, n.label])].map(([key, text]) => (
          <div key={key} className="key-row">
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
