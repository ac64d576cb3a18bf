import { Picture } from './picture';

/** A box of tablets with four numbered parts. */
export function LabelFigure() {
  return (
    <Picture size={[320, 150]}>
      <path className="fill-primary" d="M40 22h212v92H40z" />
      <path className="fill-primary-deep" d="m252 22 22-12v92l-22 12zM40 22l22-12h212l-22 12z" />
      <path className="fill-background" d="M52 32h132v44H52zM52 84h132v22H52zM194 32h48v74h-48z" />
      <path className="stroke-primary" strokeWidth="7" strokeLinecap="round" d="M62 45h74" />
      <path
        className="stroke-muted-foreground"
        strokeWidth="4"
        strokeLinecap="round"
        d="M62 63h58m12 0h34M204 44h28m-28 11h28m-28 11h20m-20 11h26"
      />
      {/* The widths are fixed, so that no font makes one text run into the other. */}
      <g
        className="fill-foreground font-sans text-[11px] font-semibold"
        textAnchor="middle"
        lengthAdjust="spacingAndGlyphs"
      >
        <text x="92" y="99" textLength="68">
          EXP 08/2027
        </text>
        <text x="158" y="99" textLength="42">
          LOT 4B7
        </text>
      </g>
      <path className="fill-none stroke-henna" strokeWidth="2" d="M16 42h36m-36 21h36M92 134V106m66 28V106" />
      <g className="fill-henna">
        <circle cx="16" cy="40" r="11" />
        <circle cx="16" cy="66" r="11" />
        <circle cx="92" cy="136" r="11" />
        <circle cx="158" cy="136" r="11" />
      </g>
      <g className="fill-background font-sans text-[13px] font-bold" textAnchor="middle">
        <text x="16" y="45">
          1
        </text>
        <text x="16" y="71">
          2
        </text>
        <text x="92" y="141">
          3
        </text>
        <text x="158" y="141">
          4
        </text>
      </g>
    </Picture>
  );
}
