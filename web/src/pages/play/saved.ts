// A stretch of the past as one file: the lanes as they are drawn here, with
// their looks, a head to move, and what happened beside it. It asks no server
// for anything, and nothing that somebody wrote becomes HTML.
import type { Event } from "../../api/records";
import { sentence } from "../../lib/events";
import type { Stretch } from "../../lib/stretch";
import { span } from "../lanes/Chart";

const shown = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "color"];

/** The drawing with the looks that it has now: its style sheet stays behind. */
function styled(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const [from, to] = [[...svg.querySelectorAll("*")], [...copy.querySelectorAll("*")]];
  for (const [i, el] of from.entries()) {
    const looks = getComputedStyle(el);
    const own = to[i] as HTMLElement | SVGElement;
    own.removeAttribute("class");
    for (const p of shown) own.style.setProperty(p, looks.getPropertyValue(p));
  }
  for (const name of copy.querySelectorAll("foreignObject")) {
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    text.setAttribute("x", "4");
    text.setAttribute("y", String(Number(name.getAttribute("y")) + Number(name.getAttribute("height")) * 0.7));
    text.style.setProperty("font-size", "12px");
    text.style.setProperty("fill", "currentColor");
    text.textContent = (name.textContent ?? "").trim();
    name.replaceWith(text);
  }
  return new XMLSerializer().serializeToString(copy);
}

const nameOf = (e: Event, s: Stretch): string => s.refs[e.actor.id]?.label ?? "svc";

/** Text inside a script must not end it. */
const safe = (v: unknown): string => JSON.stringify(v).replace(/</g, "\\u003c").replace(/\u2028/g, "\\u2028").replace(/\u2029/g, "\\u2029");

export function saved(svg: SVGSVGElement, s: Stretch, from: number, to: number): string {
  const width = Number(svg.getAttribute("width"));
  const names = span(width, from, to)(from);
  const events = s.events.map((e) => [Date.parse(e.occurred_at), `${nameOf(e, s)} ${sentence(e)}`]);
  const looks = getComputedStyle(document.body);
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>svc, played back</title>
<style>body{font:14px system-ui;margin:24px;background:${looks.backgroundColor};color:${looks.color}}#lanes{position:relative;overflow:auto}
#head{position:absolute;top:0;bottom:0;border-left:2px solid #0a7f8f;right:0;background:color-mix(in srgb,${looks.backgroundColor} 65%,transparent);pointer-events:none}
#bar{display:flex;gap:12px;align-items:center;margin:12px 0}input{flex:1}li{margin:3px 0}</style>
<h1>What happened</h1>
<div id="bar"><button id="play">Play</button><input id="at" type="range" aria-label="Moment" min="${from}" max="${to}" value="${to}"><b id="clock"></b></div>
<div id="lanes">${styled(svg)}<div id="head"></div></div>
<ol id="told" aria-label="What happened"></ol>
<script>
const events=${safe(events)},from=${from},to=${to},names=${names},width=${width};
const $=(id)=>document.getElementById(id);let playing=null;
function show(){const t=+$("at").value;$("clock").textContent=new Date(t).toLocaleString();
$("head").style.left=names+((t-from)/(to-from))*(width-names-4)+"px";
const past=events.filter((e)=>e[0]<=t).slice(-14).reverse();
$("told").replaceChildren(...past.map((e)=>{const li=document.createElement("li");li.textContent=new Date(e[0]).toLocaleTimeString()+" "+e[1];return li}))}
$("at").oninput=show;$("play").onclick=()=>{if(playing){clearInterval(playing);playing=null;$("play").textContent="Play";return}
if(+$("at").value>=to)$("at").value=from;$("play").textContent="Pause";
playing=setInterval(()=>{$("at").value=Math.min(to,+$("at").value+(to-from)/600);show();if(+$("at").value>=to)$("play").click()},50)};show();
</script></html>`;
}
